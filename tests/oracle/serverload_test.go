package oracle

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
)

var servers = []server{
	{name: "own", pkg: "./testdata/server", own: true,
		args:    func(_ string, port int) []string { return []string{fmt.Sprintf("127.0.0.1:%d", port)} },
		load:    func(port int, stop <-chan struct{}) { get(port, stop, "s", "/a", "/bb", "/none", "/ccc", "/dddd") },
		entries: []string{`function("main.*").call`, `function("net/http.*").call`},
		lines:   []string{`statement("*@main.go:*")`}},
	{name: "nats-server", pkg: "github.com/nats-io/nats-server/v2",
		args: func(dir string, port int) []string {
			return []string{"-a", "127.0.0.1", "-p", strconv.Itoa(port), "-js", "-sd", dir}
		},
		load:    natsLoad,
		entries: []string{`function("github.com/nats-io/nats-server/v2/server.*").call`},
		lines: []string{`statement("*@github.com/nats-io/nats-server/v2*/server/client.go:*")`,
			`statement("*@github.com/nats-io/nats-server/v2*/server/parser.go:*")`,
			`statement("*@github.com/nats-io/nats-server/v2*/server/memstore.go:*")`}},
	{name: "caddy", pkg: "github.com/caddyserver/caddy/v2/cmd/caddy",
		args: func(string, int) []string {
			return []string{"run", "--adapter", "caddyfile", "--config", "Caddyfile"}
		},
		prepare: caddyFiles, load: caddyLoad,
		entries: []string{`function("github.com/caddyserver/caddy/*").call`, `function("net/http.*").call`,
			`function("go.uber.org/zap*").call`},
		lines: []string{`statement("*@github.com/caddyserver/caddy/v2*/modules/caddyhttp/server.go:*")`,
			`statement("*@github.com/caddyserver/caddy/v2*/modules/caddyhttp/routes.go:*")`,
			`statement("*@github.com/caddyserver/caddy/v2*/modules/caddyhttp/fileserver/staticfiles.go:*")`,
			`statement("*@net/http/server.go:*")`}},
	{name: "prometheus", pkg: "github.com/prometheus/prometheus/cmd/prometheus",
		args: func(dir string, port int) []string {
			return []string{"--config.file=prometheus.yml", "--storage.tsdb.path=" + dir + "/data",
				fmt.Sprintf("--web.listen-address=127.0.0.1:%d", port), "--log.level=error"}
		},
		prepare: prometheusFiles, load: prometheusLoad,
		entries: []string{`function("github.com/prometheus/prometheus/promql*").call`,
			`function("github.com/prometheus/prometheus/tsdb*").call`,
			`function("github.com/prometheus/prometheus/web*").call`,
			`function("github.com/prometheus/prometheus/scrape*").call`},
		lines: []string{`statement("*@github.com/prometheus/prometheus*/promql/engine.go:*")`,
			`statement("*@github.com/prometheus/prometheus*/scrape/scrape.go:*")`}},
}

// get asks a server of HTTP for a few pages.
func get(port int, stop <-chan struct{}, head string, paths ...string) {
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	defer client.CloseIdleConnections()
	for _, p := range paths {
		select {
		case <-stop:
			return
		case <-time.After(10 * time.Millisecond):
		}
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			select {
			case <-stop:
				cancel()
			case <-ctx.Done():
			}
		}()
		req, err := http.NewRequestWithContext(ctx, "GET", fmt.Sprintf("http://127.0.0.1:%d%s", port, p), nil)
		if err == nil {
			req.Header.Set("Cookie", "a=1; session="+head)
			req.Header.Set("Accept-Encoding", "gzip, zstd")
			if resp, err := client.Do(req); err == nil {
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		}
		cancel()
	}
}

// caddyFiles are a site with files, templates, a proxy to itself, and rules.
func caddyFiles(t *testing.T, dir string, port int) {
	write(t, dir, "Caddyfile", fmt.Sprintf(`{
	admin off
	auto_https off
}
http://127.0.0.1:%d {
	root * %s
	encode gzip zstd
	log {
		output discard
	}
	header X-Sent "{http.request.uri.path}"
	@old path /old/* /older/*
	redir @old /new{uri} 302
	rewrite /rw/* /a.txt
	basic_auth /private/* {
		bob $2a$14$Zkx19XLiW6VYouLHR5NmfOFU0z2GTNmpkT/5qqR7hx4IjWJPDhjvG
	}
	respond /hello 200 {
		body "hello {http.request.remote.host}"
	}
	handle_path /proxy/* {
		reverse_proxy 127.0.0.1:%d {
			header_up X-Up yes
		}
	}
	templates /page.html
	file_server browse
}
`, port, dir, port))
	write(t, dir, "a.txt", strings.Repeat("some text\n", 300))
	write(t, dir, "page.html", "<html>{{.Req.Method}} {{.Host}} {{now}}</html>")
}

func caddyLoad(port int, stop <-chan struct{}) {
	get(port, stop, "s1", "/a.txt", "/", "/page.html?q=1", "/hello", "/old/x", "/rw/1", "/missing", "/proxy/a.txt",
		"/private/x", "/a.txt?x=%20y&z=1")
}

// prometheusFiles have it scrape itself and evaluate rules all the time.
func prometheusFiles(t *testing.T, dir string, port int) {
	write(t, dir, "prometheus.yml", fmt.Sprintf(`global:
  scrape_interval: 1s
  evaluation_interval: 1s
  external_labels: {site: a}
rule_files: [rules.yml]
scrape_configs:
- job_name: self
  metric_relabel_configs:
  - {source_labels: [__name__], regex: "go_gc.*", action: drop}
  static_configs:
  - {targets: ["127.0.0.1:%d"], labels: {env: test}}
`, port))
	write(t, dir, "rules.yml", `groups:
- name: g
  rules:
  - {record: "job:up", expr: "sum by (job) (up)"}
  - {alert: Down, expr: "up == 0", labels: {severity: page}}
`)
}

func prometheusLoad(port int, stop <-chan struct{}) {
	query := func(q string) string {
		now := time.Now().Unix()
		return fmt.Sprintf("/api/v1/query_range?query=%s&start=%d&end=%d&step=1", url.QueryEscape(q), now-30, now)
	}
	get(port, stop, "p", "/api/v1/query?query=up", query(`sum by (code) (rate(prometheus_http_requests_total[10s]))`),
		query(`histogram_quantile(0.9, rate(prometheus_http_request_duration_seconds_bucket[10s]))`),
		query(`topk(3, go_memstats_alloc_bytes) or absent(nothing) + 1`), "/api/v1/labels", "/metrics",
		"/api/v1/series?match[]=up", "/api/v1/targets", "/api/v1/query?query=bad(", "/-/healthy")
}

// natsLoad speaks NATS for a second: subjects with and without wildcards, headers, requests, a stream with consumers.
func natsLoad(port int, stop <-chan struct{}) {
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		time.Sleep(200 * time.Millisecond)
		return
	}
	defer c.Close()
	defer time.AfterFunc(time.Minute, func() { c.Close() }).Stop()
	go io.Copy(io.Discard, c)
	w := bufio.NewWriter(c)
	fmt.Fprint(w, "CONNECT {\"verbose\":false,\"headers\":true,\"name\":\"load\",\"lang\":\"go\"}\r\nPING\r\n")
	fmt.Fprint(w, "SUB orders.* 1\r\nSUB orders.> workers 2\r\nSUB _INBOX.a.* 3\r\nSUB q grp 4\r\n")
	api := func(subject, body string) {
		fmt.Fprintf(w, "PUB $JS.API.%s _INBOX.a.1 %d\r\n%s\r\n", subject, len(body), body)
	}
	api("STREAM.CREATE.S", `{"name":"S","subjects":["kept.>"],"storage":"memory","max_msgs":1000}`)
	api("CONSUMER.CREATE.S.c", `{"stream_name":"S","config":{"name":"c","ack_policy":"explicit"}}`)
	for i := range 100 {
		select {
		case <-stop:
			return
		default:
		}
		body := strings.Repeat("x", i%50)
		fmt.Fprintf(w, "PUB orders.%d %d\r\n%s\r\n", i%7, len(body), body)
		fmt.Fprintf(w, "HPUB orders.h _INBOX.a.2 22 %d\r\nNATS/1.0\r\nKey: v%03d\r\n\r\n%s\r\n", 22+len(body), i, body)
		fmt.Fprintf(w, "PUB kept.%d _INBOX.a.3 2\r\nok\r\nPUB q 1\r\n.\r\nPING\r\n", i%5)
		if i%20 == 0 {
			api("STREAM.INFO.S", "")
			api("INFO", "")
			api("CONSUMER.MSG.NEXT.S.c", "3")
			fmt.Fprintf(w, "UNSUB 4\r\nSUB q grp 4\r\n")
		}
		if w.Flush() != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
