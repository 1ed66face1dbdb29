/* export_matrix.c: the last part of a matrix function as code: from its outputs u to the covariance
 *
 *     F base F',   F = D exp(c(U) / 2) D^-1,   U = V diag(l) V' by cyclic Jacobi rotations,   c cuts l
 *
 * (function/matrix_function.c). C without allocation, which C++ takes as well, and Python without packages. */
#include "export/export.h"

/* N stands for the rows. */
static const char C_MATRIX[] =
    "    double U[N * N], V[N * N], F[N * N];\n"
    "    int sweep, k;\n"
    "    (void)z;\n"
    "    for (i = 0, o = 0; i < N; i++)\n"
    "        for (j = i; j < N; j++, o++) {\n"
    "            U[i * N + j] = U[j * N + i] = i == j ? u[o] : u[o] / sqrt(2.0);\n"
    "            V[i * N + j] = V[j * N + i] = i == j;\n"
    "        }\n"
    "    for (sweep = 0; sweep < 50; sweep++) {\n"
    "        double off = 0;\n"
    "        for (i = 0; i < N; i++)\n"
    "            for (j = i + 1; j < N; j++) {\n"
    "                const double b = U[i * N + j];\n"
    "                double h, t, c, s;\n"
    "                if (b == 0) continue;\n"
    "                off += fabs(b);\n"
    "                h = (U[j * N + j] - U[i * N + i]) / (2 * b);\n"
    "                t = (h < 0 ? -1 : 1) / (fabs(h) + sqrt(h * h + 1));\n"
    "                c = 1 / sqrt(t * t + 1);\n"
    "                s = t * c;\n"
    "                for (k = 0; k < N; k++) {\n"
    "                    const double p = U[k * N + i], q = U[k * N + j];\n"
    "                    U[k * N + i] = c * p - s * q;\n"
    "                    U[k * N + j] = s * p + c * q;\n"
    "                }\n"
    "                for (k = 0; k < N; k++) {\n"
    "                    const double p = U[i * N + k], q = U[j * N + k];\n"
    "                    U[i * N + k] = c * p - s * q;\n"
    "                    U[j * N + k] = s * p + c * q;\n"
    "                }\n"
    "                for (k = 0; k < N; k++) {\n"
    "                    const double p = V[k * N + i], q = V[k * N + j];\n"
    "                    V[k * N + i] = c * p - s * q;\n"
    "                    V[k * N + j] = s * p + c * q;\n"
    "                }\n"
    "                U[i * N + j] = U[j * N + i] = 0;\n"
    "            }\n"
    "        if (off == 0) break;\n"
    "    }\n"
    "    for (i = 0; i < N; i++)\n"
    "        for (j = 0; j < N; j++) {\n"
    "            double sum = 0;\n"
    "            for (k = 0; k < N; k++) {\n"
    "                const double l = U[k * N + k];\n"
    "                const double cut = l < u_low[0] ? u_low[0] : l > u_high[0] ? u_high[0] : l;\n"
    "                sum += V[i * N + k] * exp(0.5 * cut) * V[j * N + k];\n"
    "            }\n"
    "            F[i * N + j] = unit[i] / unit[j] * sum;\n"
    "        }\n"
    "    for (i = 0; i < N; i++)\n"
    "        for (j = 0; j < N; j++) {\n"
    "            double sum = 0;\n"
    "            for (k = 0; k < N; k++) sum += F[i * N + k] * base[k * N + j];\n"
    "            V[i * N + j] = sum;\n"
    "        }\n"
    "    for (i = 0; i < N; i++)\n"
    "        for (j = 0; j < N; j++) {\n"
    "            double sum = 0;\n"
    "            for (k = 0; k < N; k++) sum += V[i * N + k] * F[j * N + k];\n"
    "            covariance[i * N + j] = sum;\n"
    "        }\n"
    "}\n";

void ct__export_matrix_c(ct__text *out, int dim)
{
    char line[2] = {0, 0};
    for (const char *c = C_MATRIX; *c; c++) {
        line[0] = *c;
        if (*c == 'N') ct__text_printf(out, "%d", dim);
        else ct__text_put(out, line);
    }
}

void ct__export_matrix_python(ct__text *out)
{
    ct__text_put(out,
                 "    U, V = [[0.0] * n for _ in range(n)], [[float(i == j) for j in range(n)] for i in range(n)]\n"
                 "    o = 0\n"
                 "    for i in range(n):\n"
                 "        for j in range(i, n):\n"
                 "            U[i][j] = U[j][i] = u[o] if i == j else u[o] / math.sqrt(2.0)\n"
                 "            o += 1\n"
                 "    for _ in range(50):\n"
                 "        off = 0.0\n"
                 "        for i in range(n):\n"
                 "            for j in range(i + 1, n):\n"
                 "                if U[i][j] == 0:\n"
                 "                    continue\n"
                 "                off += abs(U[i][j])\n"
                 "                h = (U[j][j] - U[i][i]) / (2 * U[i][j])\n"
                 "                t = (-1 if h < 0 else 1) / (abs(h) + math.hypot(h, 1))\n"
                 "                c = 1 / math.sqrt(t * t + 1)\n"
                 "                s = t * c\n"
                 "                for row in U + V:\n"
                 "                    row[i], row[j] = c * row[i] - s * row[j], s * row[i] + c * row[j]\n"
                 "                U[i], U[j] = ([c * p - s * q for p, q in zip(U[i], U[j])],\n"
                 "                              [s * p + c * q for p, q in zip(U[i], U[j])])\n"
                 "                U[i][j] = U[j][i] = 0.0\n"
                 "        if off == 0:\n"
                 "            break\n"
                 "    e = [math.exp(0.5 * min(max(U[k][k], u_low[0]), u_high[0])) for k in range(n)]\n"
                 "    F = [[unit[i] / unit[j] * sum(V[i][k] * e[k] * V[j][k] for k in range(n)) for j in range(n)]\n"
                 "         for i in range(n)]\n"
                 "    G = [[sum(F[i][k] * base[k * n + j] for k in range(n)) for j in range(n)] for i in range(n)]\n"
                 "    return [[sum(G[i][k] * F[j][k] for k in range(n)) for j in range(n)] for i in range(n)]\n");
}
