#ifndef GOSTAP_MARK_NOTE
#ifdef __cplusplus
#define GOSTAP_MARK_C extern "C"
/* Whether numbers of a type have a sign: -1 or 1. Addresses have none. */
template <typename T> struct gostap_mark_sign {
	static const int value = static_cast<T>(-1) < static_cast<T>(1) ? -1 : 1;
};
template <typename T> struct gostap_mark_sign<T *> {
	static const int value = 1;
};
/* Arrays decay to the address of their first element, as they do where they are passed. */
template <typename T> static inline T gostap_mark_value(T x) { return x; }
template <typename T> char (&gostap_mark_kind(T))[gostap_mark_sign<T>::value < 0 ? 1 : 2];
#define GOSTAP_MARK_VALUE(x) gostap_mark_value(x)
#define GOSTAP_MARK_SIZE(x)                                                                  \
	((sizeof(gostap_mark_kind(GOSTAP_MARK_VALUE(x))) == 1 ? -1 : 1) * (int)sizeof(GOSTAP_MARK_VALUE(x)))
#else
#define GOSTAP_MARK_C extern
#define GOSTAP_MARK_NUMBER(x) __builtin_choose_expr(__builtin_classify_type(x) == 5, 0u, (x))
#define GOSTAP_MARK_SIZE(x)                                                                                \
	(__builtin_classify_type(x) == 5 ? (int)sizeof(void *)                                                 \
	 : (__typeof__(GOSTAP_MARK_NUMBER(x)))-1 < (__typeof__(GOSTAP_MARK_NUMBER(x)))1 ? -(int)sizeof(x)      \
	                                                                                : (int)sizeof(x))
/* Arrays decay to the address of their first element. */
#define GOSTAP_MARK_VALUE(x) __extension__((x) + 0)
#endif

/* A note of .note.stapsdt: the place, .stapsdt.base and the counter as addresses, then the provider, the name and the
   arguments as SIZE@OPERAND, with a negative size for numbers with a sign. */
#define GOSTAP_MARK_NOTE(provider, name, semaphore, args)                                                 \
	"990: nop\n"                                                                                          \
	".pushsection .note.stapsdt, \"?\", \"note\"\n"                                                      \
	".balign 4\n"                                                                                         \
	".4byte 992f-991f, 994f-993f, 3\n"                                                                    \
	"991: .asciz \"stapsdt\"\n"                                                                           \
	"992: .balign 4\n"                                                                                    \
	"993: .8byte 990b, _.stapsdt.base, " semaphore "\n"                                                   \
	".asciz \"" provider "\"\n"                                                                           \
	".asciz \"" name "\"\n"                                                                               \
	".asciz \"" args "\"\n"                                                                               \
	"994: .balign 4\n"                                                                                    \
	".popsection\n"                                                                                       \
	".ifndef _.stapsdt.base\n"                                                                            \
	".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"                           \
	".weak _.stapsdt.base\n"                                                                              \
	".hidden _.stapsdt.base\n"                                                                            \
	"_.stapsdt.base: .space 1\n"                                                                          \
	".size _.stapsdt.base, 1\n"                                                                           \
	".popsection\n"                                                                                       \
	".endif\n"
#define GOSTAP_MARK_OPERAND(n, x) [s##n] "n"(GOSTAP_MARK_SIZE(x)), [v##n] "nor"(GOSTAP_MARK_VALUE(x))
#define GOSTAP_MARK0(p, n, s) __asm__ __volatile__(GOSTAP_MARK_NOTE(p, n, s, ""))
#endif
