/* program.h: compiled expressions: instructions for a stack. */
#ifndef CT_SOURCE_PROGRAM_H
#define CT_SOURCE_PROGRAM_H

#include "source/expression.h"

/* X(constant, name, fewest arguments, most) */
#define FUNCTION_LIST(X)                                                                                               \
    X(OP_ABS, "abs", 1, 1) X(OP_SQRT, "sqrt", 1, 1) X(OP_SIN, "sin", 1, 1) X(OP_COS, "cos", 1, 1)                      \
    X(OP_TAN, "tan", 1, 1) X(OP_ASIN, "asin", 1, 1) X(OP_ACOS, "acos", 1, 1) X(OP_ATAN, "atan", 1, 1)                  \
    X(OP_EXP, "exp", 1, 1) X(OP_LOG, "log", 1, 1) X(OP_FLOOR, "floor", 1, 1) X(OP_ROUND, "round", 1, 1)                \
    X(OP_ISNAN, "isnan", 1, 1) X(OP_ATAN2, "atan2", 2, 2) X(OP_HYPOT, "hypot", 2, 2) X(OP_MIN, "min", 2, 16)           \
    X(OP_MAX, "max", 2, 16)

/* Operators with the precedence of the grammar, the tightest last. X(constant, mark, precedence) */
#define OPERATOR_LIST(X)                                                                                               \
    X(OP_OR, "or", 1) X(OP_AND, "and", 2) X(OP_LESS, "<", 4) X(OP_LESS_EQUAL, "<=", 4) X(OP_MORE, ">", 4)              \
    X(OP_MORE_EQUAL, ">=", 4) X(OP_EQUAL, "==", 4) X(OP_NOT_EQUAL, "!=", 4) X(OP_ADD, "+", 5) X(OP_SUBTRACT, "-", 5)   \
    X(OP_MULTIPLY, "*", 6) X(OP_DIVIDE, "/", 6) X(OP_MODULO, "%", 6) X(OP_POWER, "^", 8)

typedef enum {
#define X(constant, ...) constant,
    FUNCTION_LIST(X) OPERATOR_LIST(X)
#undef X
    OP_NEGATE,
    OP_NOT,
    OP_NUMBER,         /* push `number`; in the program of a comparison of texts also its text          */
    OP_TEXT,           /* a text: a constant, only until its comparison is compiled                     */
    OP_LOAD,           /* push the field in slot `a`                                                    */
    OP_SAME_TEXT,      /* push 1 if the texts `a` and `b` are equal: slots, or ~index of a constant     */
    OP_DIFFERENT_TEXT
} opcode;

typedef struct {
    opcode  op;
    int32_t a, b;
    double  number;
    int     begin, end; /* where its name or text is in the expression's text, without quotes */
} instruction;

struct ct__expression {
    instruction *code;
    int32_t      count;
    char       **constant; /* texts that are compared with */
    int32_t      constants;
};

#endif
