// SPDX-License-Identifier: (GPL-2.0 OR MIT)
/* The least that a module can do at a kernel probe: a counter of its own for each CPU. For comparisons. */
#include <linux/module.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>

static DEFINE_PER_CPU(u64, hits);

static int hit(struct kprobe *p, struct pt_regs *regs)
{
	(void)p;
	(void)regs;
	this_cpu_inc(hits);
	return 0;
}

static struct kprobe probe = { .symbol_name = "__x64_sys_getppid", .pre_handler = hit };

static int back(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	(void)ri;
	(void)regs;
	this_cpu_inc(hits);
	return 0;
}

static struct kretprobe returns = { .kp.symbol_name = "__x64_sys_getppid", .handler = back, .maxactive = 64 };

static bool ret;
module_param(ret, bool, 0400);
MODULE_PARM_DESC(ret, "probe the return");

static int __init start(void)
{
	return ret ? register_kretprobe(&returns) : register_kprobe(&probe);
}

static void __exit stop(void)
{
	u64 n = 0;
	int cpu;

	if (ret)
		unregister_kretprobe(&returns);
	else
		unregister_kprobe(&probe);
	for_each_possible_cpu(cpu)
		n += per_cpu(hits, cpu);
	pr_info("bare: %llu hits\n", n);
}

module_init(start);
module_exit(stop);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("counts hits of one kernel probe");
