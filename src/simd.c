/* SPDX-License-Identifier: MIT */
/* The choice of vector instructions (see simd.h), and the public functions for texts, which use
 * it. */
#include "simd.h"

#include "forms.h"

_Atomic(const firn__simd *) firn__simd_chosen;

static const firn__simd plain = {.name = "plain"};

/* The C library has asked the processor already. To ask again takes 5 us on a virtual machine, and
 * the constructor of __builtin_cpu_supports asks more than ten times, in every process. */
#if defined(FIRN__SIMD_X86) && __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
static const firn__simd *best(void) {
    return CPU_FEATURE_ACTIVE(SSSE3) ? &firn__simd_ssse3 : &plain;
}
#elif defined(FIRN__SIMD_X86)
#include <cpuid.h>
static const firn__simd *best(void) {
    unsigned a, b, c = 0, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSSE3) != 0 ? &firn__simd_ssse3 : &plain;
}
#elif defined(FIRN__SIMD_NEON)
static const firn__simd *best(void) {
    return &firn__simd_neon; /* every processor with 64-bit ARM Linux has it */
}
#else
static const firn__simd *best(void) {
    return &plain;
}
#endif

void firn__simd_choose(void) {
    atomic_store_explicit(&firn__simd_chosen, best(), memory_order_relaxed);
}

const firn__simd *firn__simd_at(size_t i) {
    const firn__simd *last = best();
    return i == 0 ? &plain : i == 1 && last != &plain ? last : NULL;
}

/* ---- the public functions -------------------------------------------------------------------- */

APART static char *format_first(char *text, const firn_id *id, int form) {
    firn__simd_choose();
    return firn_format(text, id, form);
}

char *firn_format(char text[FIRN_TEXT_SIZE], const firn_id *id, int form) {
    const firn__simd *simd = firn__simd_now();
    if (form < 0 || form >= FIRN_FORM_COUNT || id->bits - 1 >= 160) {
        text[0] = '\0';
        return text;
    }
    if (simd == NULL) {
        return format_first(text, id, form);
    }
    return (simd->write[form] != NULL ? simd->write[form] : firn__writers[form])(text, id);
}

APART static int parse_first(firn_id *id, int form, uint32_t bits, const char *text, size_t length,
                             firn_error *error) {
    firn__simd_choose();
    return firn_parse(id, form, bits, text, length, error);
}

int firn_parse(firn_id *id, int form, uint32_t bits, const char *text, size_t length,
               firn_error *error) {
    const firn__simd *simd = firn__simd_now();
    if (form < 0 || form >= FIRN_FORM_COUNT || bits - 1 >= 160) {
        return firn__refuse_text(form, bits, text, length, error);
    }
    if (simd == NULL) {
        return parse_first(id, form, bits, text, length, error);
    }
    firn__reader *read = simd->read[form] != NULL ? simd->read[form] : firn__readers[form];
    return read(id, form, bits, text, length, error);
}
