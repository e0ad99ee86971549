/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Packets, where netfilter shows them: in the network namespace of the process that runs the session. A packet goes on whatever
 * becomes of the handler, unless the script says otherwise and comes to its end.
 */
#ifndef GS_NETFILTER_H
#define GS_NETFILTER_H

#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/nsproxy.h>
#include <linux/skbuff.h>
#include <net/net_namespace.h>
#include "gs_output.h"

struct gs_netfilter {
	u8 family, hook;
	int priority;
	void (*handler)(struct gs_hit *hit);
	u32 place;		/* gs_hit.site */
	int pid;		/* only in this process; 0: any */
	u32 site;
	struct nf_hook_ops ops;
	bool on;
};

static struct net *gs_net;	/* held while anything is attached */

/* What the script may say: NF_STOLEN would leave the packet to nobody, NF_REPEAT is for the kernel's own. */
static inline unsigned int gs_verdict(int verdict)
{
	switch (verdict & NF_VERDICT_MASK) {
	case NF_DROP:
		return NF_DROP;
	case NF_QUEUE:
		return verdict;
	}
	return NF_ACCEPT;
}

static unsigned int gs_netfilter_hit(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	struct gs_netfilter *t = priv;
	struct gs_value value = {};
	int verdict = NF_ACCEPT;
	/* probe.NetSkb and the others */
	s64 args[] = { (long)skb, (long)state->in, (long)state->out, state->hook, state->pf, (long)state->sk, (long)state->net, (long)&verdict };
	struct gs_hit hit = { .args = args, .site = t->place, .value = &value };

	if (gs_running() && gs_here(t->pid))
		t->handler(&hit);
	return value.done ? gs_verdict(verdict) : NF_ACCEPT;
}

static int gs_netfilter_on(struct gs_netfilter *t)
{
	int err;

	if (!gs_net)
		gs_net = get_net(current->nsproxy->net_ns);
	t->ops.hook = gs_netfilter_hit;
	t->ops.priv = t;
	t->ops.pf = t->family;
	t->ops.hooknum = t->hook;
	t->ops.priority = t->priority;
	err = nf_register_net_hook(gs_net, &t->ops);
	t->on = err == 0;
	return err;
}

static void gs_netfilters_off(struct gs_netfilter *t, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		if (t[i].on)
			nf_unregister_net_hook(gs_net, &t[i].ops);
		t[i].on = false;
	}
	synchronize_net();	/* packets that are in a handler */
	if (gs_net)
		put_net(gs_net);
	gs_net = NULL;
}

#endif
