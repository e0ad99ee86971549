package kmod

import (
	"fmt"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/cfi"
)

// TestWalk: the walk takes rules apart as cfi.Packed means them, of every kind, on a stack made by hand.
func TestWalk(t *testing.T) {
	pack := func(k cfi.PackedKind, off int64, fp int) uint64 {
		return uint64(uint32(k)|uint32(off)<<cfi.PackOffShift&(1<<cfi.PackFPShift-1)) | uint64(fp)<<cfi.PackFPShift
	}
	rows := ""
	for i, r := range []uint64{
		pack(cfi.PackSP, 3, 0),                           // 0x10: the return address at sp + 16
		pack(cfi.PackFP, 2, cfi.PackBelow),               // 0x20: at fp + 8, fp saved at fp
		pack(cfi.PackLinkage, 11, 0),                     // 0x30
		pack(cfi.PackLoad, -2, 0),                        // 0x40: the CFA is at fp - 16
		pack(cfi.PackSignal, 0, 0),                       // 0x50
		pack(cfi.PackInterrupted, 1, cfi.PackLost),       // 0x60
		pack(cfi.PackSwitch, 0, 0),                       // 0x70
		pack(cfi.PackOutermost, 0, 0),                    // 0x80
		pack(cfi.PackUnknown, 0, 0),                      // 0x90
		uint64(uint32(cfi.PackFrame(-8, cfi.PackBelow))), // 0xa0: a CFA below the stack pointer
	} {
		rows += fmt.Sprintf("%#xULL, ", uint64(0x10*(i+1))<<32|r)
	}
	got := run(t, `#define GS_KEEP 16
#define GS_SIGFRAME_IP 24
#define GS_SIGFRAME_SP 32
#define GS_SIGFRAME_FP 40
#include "gs_user.h"
#undef gs_walk_free
static u64 mem[64];
static int gs_test_read(void *dst, unsigned long addr, unsigned int n, bool kernel)
{
	if (kernel || addr < 0x1000 || addr + n > 0x1000 + sizeof(mem))
		return -14;
	memcpy(dst, (char *)mem + addr - 0x1000, n);
	return 0;
}
#include "gs_walk.h"
static const u64 rows[] = { `+rows+`};
static const struct gs_code file = { .rows = rows, .many = ARRAY_SIZE(rows) };
static bool gs_walk_mapped(struct gs_walk *w, u64 x)
{
	w->code = &file;
	w->bias = 0x400000;
	return x >= 0x400000 && x < 0x500000;
}
static void gs_walk_return(struct gs_walk *w, u64 at, u64 *ra)
{
	if (*ra == 0x7777)
		*ra = 0x400025; /* one of the kernel's return probes */
}

static void show(const char *name, struct gs_walk w, u32 room)
{
	u64 list[16] = { 0 };
	bool cut;
	u32 i, n = gs_walk(&w, list, room, &cut);

	printf("%s%s:", name, cut ? " cut" : "");
	for (i = 0; i < n; i++)
		printf(" %llx%s", list[i] & ~GS_WALK_INTERRUPTED, list[i] & GS_WALK_INTERRUPTED ? "!" : "");
	printf("\n");
}

#define AT(a) mem[((a) - 0x1000) / 8]
int main(void)
{
	struct gs_walk w = { .pc = 0x400012, .sp = 0x1000, .fp = 0x1040, .to = ~0ULL, .exact = true };

	AT(0x1010) = 0x7777;		/* 0x10 was called by 0x20, through a return probe */
	AT(0x1040) = 0x1090;		/* which has its frame pointer here */
	AT(0x1048) = 0x40003c;		/* and was called by the linkage table, past its push */
	AT(0x1058) = 0x400045;		/* called by 0x40, whose CFA is at fp - 16 */
	AT(0x1080) = 0x10a0;
	AT(0x1090) = 0x1100;
	AT(0x1098) = 0x400051;		/* a handler of signals, which returns here */
	AT(0x10a0 + 24) = 0x400061;	/* interrupted here */
	AT(0x10a0 + 32) = 0x1100;
	AT(0x10a0 + 40) = 0x1110;
	AT(0x1100) = 0x400071;		/* interrupted as if it had called; the frame pointer is lost */
	show("all", w, 16);
	show("room", w, 3);
	AT(0x1098) = 0x400075;		/* goes on on another stack, which lies below */
	AT(0x1100) = 0x1010;
	AT(0x1108) = 0x400081;
	show("switch", w, 16);
	w.from = 0x1080;
	show("part", w, 16);
	w.from = 0;
	w.pc = 0x400095;
	show("unknown", w, 16);
	w.pc = 0x4000a1;
	show("down", w, 16);
	w.pc = 0x40000f;
	show("before", w, 16);
	w.pc = 0x600000;
	show("elsewhere", w, 16);
	w.pc = 0x400012;
	w.sp = 0x100000;
	show("unread", w, 16);
	AT(0x1010) = 0;
	w.sp = 0x1000;
	show("end", w, 16);
	AT(0x1010) = 1ULL << 60;
	show("impossible", w, 16);
	return 0;
}
`)
	want := `all cut: 400012 400025 40003c 400045 400051! 400061! 400071!
room cut: 400012 400025 40003c
switch: 400012 400025 40003c 400045 400075 400081
part: 400075 400081
unknown cut: 400095
down cut: 4000a1
before cut: 40000f
elsewhere cut: 600000
unread cut: 400012
end: 400012
impossible cut: 400012
`
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
