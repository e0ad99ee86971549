/* How often a process had to free memory itself, as the kernel's delay accounting says (struct taskstats,
 * Documentation/accounting/delay-accounting.rst). It counts while kernel.task_delayacct is 1. */
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct message {
	struct nlmsghdr head;
	struct genlmsghdr generic;
	char attributes[4096];
};

/* find gives what an attribute holds, or NULL. */
static void *find(char *at, long size, int type)
{
	while (size >= NLA_HDRLEN) {
		struct nlattr *a = (struct nlattr *)at;
		long step = NLA_ALIGN(a->nla_len);

		if ((a->nla_type & NLA_TYPE_MASK) == type)
			return at + NLA_HDRLEN;
		if (step < NLA_HDRLEN)
			return NULL;
		at += step;
		size -= step;
	}
	return NULL;
}

/* ask sends one attribute and gives the size of the answer's attributes in m, or -1. */
static long ask(int s, struct message *m, int family, int command, int type, const void *value, int size)
{
	struct nlattr *a = (struct nlattr *)m->attributes;
	long n;

	memset(m, 0, sizeof *m);
	m->head = (struct nlmsghdr){ NLMSG_LENGTH(GENL_HDRLEN + NLA_ALIGN(NLA_HDRLEN + size)), family, NLM_F_REQUEST };
	m->generic = (struct genlmsghdr){ command, 1 };
	a->nla_len = NLA_HDRLEN + size;
	a->nla_type = type;
	memcpy(m->attributes + NLA_HDRLEN, value, size);
	if (send(s, m, m->head.nlmsg_len, 0) < 0)
		return -1;
	n = recv(s, m, sizeof *m, 0) - NLMSG_LENGTH(GENL_HDRLEN);
	return n < 0 || m->head.nlmsg_type == NLMSG_ERROR ? -1 : n;
}

long freepages(void)
{
	int s = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC), pid = getpid();
	struct message m;
	struct taskstats t;
	char *p;
	long n = ask(s, &m, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, TASKSTATS_GENL_NAME,
		     sizeof TASKSTATS_GENL_NAME);

	p = n < 0 ? NULL : find(m.attributes, n, CTRL_ATTR_FAMILY_ID);
	n = p ? ask(s, &m, *(unsigned short *)p, TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_PID, &pid, sizeof pid) : -1;
	p = n < 0 ? NULL : find(m.attributes, n, TASKSTATS_TYPE_AGGR_PID);
	p = p ? find(p, n - (p - m.attributes), TASKSTATS_TYPE_STATS) : NULL;
	close(s);
	if (!p)
		return -1;
	memcpy(&t, p, sizeof t);
	return t.freepages_count;
}
