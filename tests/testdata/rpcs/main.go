// Command rpcs is a server and a client of gRPC, and a client of PostgreSQL through pgx with as much of a server as that
// needs. It prints how often what was asked for and how that ended: what its traces are held against.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sort"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

var (
	mu    sync.Mutex
	count = map[string]int{}
	spent = map[string]time.Duration{}
)

// note counts something, and how long it took.
func note(what, key string, began time.Time) {
	mu.Lock()
	defer mu.Unlock()
	count[what+" "+key]++
	spent[what] += time.Since(began)
}

// answer is what both kinds of calls do with a text.
func answer(text string) error {
	switch text {
	case "missing":
		return status.Error(codes.NotFound, "nothing there")
	case "wrapped":
		return fmt.Errorf("it is: %w", status.Error(codes.ResourceExhausted, "too much"))
	case "plain":
		return errors.New("no status")
	case "slow":
		time.Sleep(5 * time.Millisecond)
	}
	return nil
}

func echo(_ any, ctx context.Context, dec func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	in := new(wrapperspb.StringValue)
	if err := dec(in); err != nil {
		return nil, err
	}
	began := time.Now()
	err := answer(in.Value)
	note("served", fmt.Sprint("/test.Echo/Say ", int(codeOf(err))), began)
	return in, err
}

func chat(_ any, s grpc.ServerStream) error {
	began := time.Now()
	in := new(wrapperspb.StringValue)
	for {
		err := s.RecvMsg(in)
		if err == io.EOF {
			err = nil
		} else if err == nil {
			if err = answer(in.Value); err == nil {
				if err = s.SendMsg(in); err == nil {
					continue
				}
			}
		}
		note("served", fmt.Sprint("/test.Echo/Chat ", int(codeOf(err))), began)
		return err
	}
}

// codeOf is the code that err is sent with.
func codeOf(err error) codes.Code {
	if s, ok := status.FromError(err); ok {
		return s.Code()
	}
	return status.FromContextError(err).Code()
}

func calls() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	server := grpc.NewServer()
	desc := &grpc.StreamDesc{StreamName: "Chat", Handler: chat, ServerStreams: true, ClientStreams: true}
	server.RegisterService(&grpc.ServiceDesc{ServiceName: "test.Echo", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Say", Handler: echo}}, Streams: []grpc.StreamDesc{*desc}}, nil)
	go server.Serve(l)
	cc, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	invoke := func(ctx context.Context, method, text string) {
		began := time.Now()
		err := cc.Invoke(ctx, method, wrapperspb.String(text), new(wrapperspb.StringValue))
		note("called", fmt.Sprint(method, " ", int(status.Code(err))), began)
	}
	for _, text := range []string{"hello", "missing", "hello", "wrapped", "plain", "slow"} {
		for range 5 {
			invoke(ctx, "/test.Echo/Say", text)
		}
	}
	for range 3 {
		began := time.Now()
		invoke(ctx, "/test.Echo/None", "x")
		note("served", "/test.Echo/None 12", began)
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	for range 4 {
		invoke(over, "/test.Echo/Say", "x")
	}
	for i, texts := range []string{"a b c", "a missing", "slow", "plain", ""} {
		for range 3 + i {
			began := time.Now()
			s, err := cc.NewStream(ctx, desc, "/test.Echo/Chat")
			if err != nil {
				panic(err)
			}
			for _, text := range strings.Fields(texts) {
				if err = s.SendMsg(wrapperspb.String(text)); err == nil {
					err = s.RecvMsg(new(wrapperspb.StringValue))
				}
			}
			if err == nil {
				s.CloseSend()
				if err = s.RecvMsg(new(wrapperspb.StringValue)); err == io.EOF {
					err = nil
				}
			}
			note("streamed", fmt.Sprint("/test.Echo/Chat ", int(status.Code(err))), began)
		}
	}
	cc.Close()
	server.GracefulStop()
}

func main() {
	calls()
	queries()
	var keys []string
	for k := range count {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		fmt.Println(k, "x", count[k])
	}
	for _, what := range []string{"called", "streamed", "exec", "query"} {
		fmt.Println("spent", what, spent[what].Nanoseconds())
	}
}
