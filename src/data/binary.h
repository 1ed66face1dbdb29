/* binary.h: the layout of a binary sequence file (.ctbin), version 1.
 *
 *   head       ct__binary_head, 64 bytes
 *   table      one ct__binary_section a section, 48 bytes each
 *   sections   arrays in the byte order of the machine that wrote them, each at a multiple of 64 bytes
 *
 * A section is found by its name, so its place and the order do not matter. A reader refuses a section that it does not
 * know by name, unless CT__SECTION_OPTIONAL is set: then the sequence is whole without it. Sections without content are
 * left out. Kinds, noise models, kernels and measurement models are referred to by name, so that a file outlives the
 * numbers of an enumeration. Head, table and sections are covered by checksums; the gaps between them are not read.
 *
 *   name          element   length         content
 *   counts        int64     4              variables, doubles of values, factors, noise models
 *   recording     byte      any            name of the recording
 *   truth_sigma   double    2              m, rad
 *   noise.word    byte      any            per noise model: name, kind, robust kernel; each ends with a zero byte
 *   noise.dim     int32     models         rows
 *   noise.number  double    any            per noise model: width of the kernel, then its variances or matrix
 *   kind.name     byte      any            kinds of variables, each ends with a zero byte
 *   var.kind      uint8     variables      place in kind.name
 *   var.fixed     uint8     variables      1: held at its value
 *   var.name      byte      any            names, each ends with a zero byte; left out if they are x0, x1, ...
 *   var.value     double    values         initial values, stored layout (docs/formats.md)
 *   var.time      double    variables      s, NaN: unknown
 *   truth         double    values         true values, stored layout
 *   known         uint8     variables      bit i: coordinate i of the truth is known
 *   shape.word    byte      any            per outline: name, kind; each ends with a zero byte
 *   shape.count   int64     outlines       how many numbers it has
 *   shape.number  double    any            numbers of ct_shape_numbers, outline by outline
 *   model.name    byte      any            measurement models, each ends with a zero byte
 *   factor.model  int32     factors        place in model.name
 *   factor.noise  int32     factors        place among the noise models of the file
 *   factor.var    int32     any            variables, factor by factor
 *   factor.z      double    any            measurements, factor by factor, optional parts included
 *   factor.times  double    factors        multipliers of the covariance; left out if all are 1
 *   factor.shape  int32     factors        place among the shapes, -1: none; left out if all are
 *   feature.name  byte      any            columns of features, each ends with a zero byte
 *   feature.value double    any            column by column, one a factor; NaN: it has none */
#ifndef CT_BINARY_H
#define CT_BINARY_H

#include <stddef.h>
#include <stdint.h>

#define CT__BINARY_VERSION  1
#define CT__BINARY_ALIGN    64
#define CT__BINARY_SECTIONS 256        /* at most */
#define CT__BINARY_ORDER    0x01020304 /* as the writer stores it */
/* The first byte is no text, the line ends are changed by transfers in text mode, 0x1a ends listings. */
#define CT__BINARY_MAGIC    "\x89" "CTB\r\n\x1a\n"

typedef struct {
    char     magic[8];
    uint32_t order, version;
    uint64_t bytes;    /* of the file                                        */
    uint32_t sections, zero;
    uint64_t checksum; /* of the table, then of the head with 0 in this place */
    uint64_t reserved[3];
} ct__binary_head;

#define CT__SECTION_OPTIONAL 1u
typedef struct {
    char     name[16]; /* filled with zero bytes       */
    uint32_t flags, size; /* size: of an element, bytes */
    uint64_t at, count;   /* from the start of the file; elements */
    uint64_t checksum;
} ct__binary_section;

_Static_assert(sizeof(ct__binary_head) == 64, "the head has 64 bytes");
_Static_assert(sizeof(ct__binary_section) == 48, "a row of the table has 48 bytes");

/* A 64-bit checksum: four lanes of 8 bytes, each multiplied by an odd number, so that any change of one word changes
 * its lane; 10 GB/s. Not a signature. */
uint64_t ct__checksum(const void *bytes, size_t size, uint64_t seed);
/* Fills in all checksums of an
 * image with a valid head and table; what they do not reach is left alone. For writers and tests. */
void ct__binary_seal(void *image, size_t size);
/* 1 if a section's bytes are inside a file of that size. */
int  ct__binary_is_inside(const ct__binary_section *section, size_t size);

#endif
