package otlp

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/gostap/gostap/cmd/internal/deliver"
)

// clients send requests, each once.
type clients struct {
	logs    sdklog.Exporter
	spans   trace.SpanExporter
	metrics metric.Exporter
}

// dial makes those of an address.
func dial(ctx context.Context, a *deliver.Address) (*clients, error) {
	if a.Kind == "otlp" || a.Kind == "otlps" {
		return dialGRPC(ctx, a)
	}
	return dialHTTP(ctx, a)
}

// patient connects again soon after a receiver is back: by itself gRPC tries it once in two minutes in the end, and
// lets all that is sent before fail.
var patient = grpc.WithConnectParams(grpc.ConnectParams{MinConnectTimeout: 5 * time.Second,
	Backoff: backoff.Config{BaseDelay: 200 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2,
		MaxDelay: 2 * time.Second}})

func dialGRPC(ctx context.Context, a *deliver.Address) (c *clients, err error) {
	logs := []otlploggrpc.Option{otlploggrpc.WithEndpoint(a.Host), otlploggrpc.WithDialOption(patient),
		otlploggrpc.WithRetry(otlploggrpc.RetryConfig{})}
	spans := []otlptracegrpc.Option{otlptracegrpc.WithEndpoint(a.Host), otlptracegrpc.WithDialOption(patient),
		otlptracegrpc.WithRetry(otlptracegrpc.RetryConfig{})}
	metrics := []otlpmetricgrpc.Option{otlpmetricgrpc.WithEndpoint(a.Host), otlpmetricgrpc.WithDialOption(patient),
		otlpmetricgrpc.WithRetry(otlpmetricgrpc.RetryConfig{})}
	if a.Kind == "otlp" {
		logs = append(logs, otlploggrpc.WithInsecure())
		spans = append(spans, otlptracegrpc.WithInsecure())
		metrics = append(metrics, otlpmetricgrpc.WithInsecure())
	}
	c = &clients{}
	if c.logs, err = otlploggrpc.New(ctx, logs...); err != nil {
		return nil, err
	}
	if c.spans, err = otlptracegrpc.New(ctx, spans...); err != nil {
		return nil, err
	}
	c.metrics, err = otlpmetricgrpc.New(ctx, metrics...)
	return c, err
}

func dialHTTP(ctx context.Context, a *deliver.Address) (c *clients, err error) {
	logs := []otlploghttp.Option{otlploghttp.WithEndpoint(a.Host), otlploghttp.WithURLPath(a.Path + "/v1/logs"),
		otlploghttp.WithRetry(otlploghttp.RetryConfig{})}
	spans := []otlptracehttp.Option{otlptracehttp.WithEndpoint(a.Host),
		otlptracehttp.WithURLPath(a.Path + "/v1/traces"), otlptracehttp.WithRetry(otlptracehttp.RetryConfig{})}
	metrics := []otlpmetrichttp.Option{otlpmetrichttp.WithEndpoint(a.Host),
		otlpmetrichttp.WithURLPath(a.Path + "/v1/metrics"), otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{})}
	if a.Kind == "otlp+http" {
		logs = append(logs, otlploghttp.WithInsecure())
		spans = append(spans, otlptracehttp.WithInsecure())
		metrics = append(metrics, otlpmetrichttp.WithInsecure())
	}
	c = &clients{}
	if c.logs, err = otlploghttp.New(ctx, logs...); err != nil {
		return nil, err
	}
	if c.spans, err = otlptracehttp.New(ctx, spans...); err != nil {
		return nil, err
	}
	c.metrics, err = otlpmetrichttp.New(ctx, metrics...)
	return c, err
}

func (c *clients) close(ctx context.Context) {
	c.logs.Shutdown(ctx)
	c.spans.Shutdown(ctx)
	c.metrics.Shutdown(ctx)
}
