package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// postgres answers one client: three rows with a text to what begins with "select", an error to what has "bad" in it.
func postgres(c net.Conn) {
	defer c.Close()
	b := pgproto3.NewBackend(c, c)
	if _, err := b.ReceiveStartupMessage(); err != nil {
		panic(err)
	}
	b.Send(&pgproto3.AuthenticationOk{})
	b.Send(&pgproto3.BackendKeyData{ProcessID: 1, SecretKey: []byte{0, 0, 0, 1}})
	b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	fields := &pgproto3.RowDescription{Fields: []pgproto3.FieldDescription{{Name: []byte("t"), DataTypeOID: 25,
		DataTypeSize: -1, TypeModifier: -1}}}
	bad := &pgproto3.ErrorResponse{Severity: "ERROR", Code: "42601", Message: "bad"}
	run := func(sql string) {
		if !strings.HasPrefix(sql, "select") {
			b.Send(&pgproto3.CommandComplete{CommandTag: []byte("INSERT 0 1")})
			return
		}
		for range 3 {
			b.Send(&pgproto3.DataRow{Values: [][]byte{[]byte("x")}})
		}
		b.Send(&pgproto3.CommandComplete{CommandTag: []byte("SELECT 3")})
	}
	parsed, bound, failed := map[string]string{}, "", false
	for {
		if err := b.Flush(); err != nil {
			return
		}
		m, err := b.Receive()
		if err != nil {
			return
		}
		if _, sync := m.(*pgproto3.Sync); failed && !sync {
			continue
		}
		switch m := m.(type) {
		case *pgproto3.Query:
			if strings.Contains(m.String, "bad") {
				b.Send(bad)
			} else {
				if strings.HasPrefix(m.String, "select") {
					b.Send(fields)
				}
				run(m.String)
			}
			b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		case *pgproto3.Parse:
			if failed = strings.Contains(m.Query, "bad"); failed {
				b.Send(bad)
				continue
			}
			parsed[m.Name] = m.Query
			b.Send(&pgproto3.ParseComplete{})
		case *pgproto3.Describe:
			if m.ObjectType == 'S' {
				oids := make([]uint32, strings.Count(parsed[m.Name], "$"))
				for i := range oids {
					oids[i] = 25
				}
				b.Send(&pgproto3.ParameterDescription{ParameterOIDs: oids})
				bound = parsed[m.Name]
			}
			if strings.HasPrefix(bound, "select") {
				b.Send(fields)
			} else {
				b.Send(&pgproto3.NoData{})
			}
		case *pgproto3.Bind:
			bound = parsed[m.PreparedStatement]
			b.Send(&pgproto3.BindComplete{})
		case *pgproto3.Execute:
			run(bound)
		case *pgproto3.Sync:
			failed = false
			b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		case *pgproto3.Close:
			delete(parsed, m.Name)
			b.Send(&pgproto3.CloseComplete{})
		case *pgproto3.Terminate:
			return
		default:
			panic(fmt.Sprintf("%T", m))
		}
	}
}

// ended says how a query ended.
func ended(sql string, err error) string {
	if e := (*pgconn.PgError)(nil); errors.As(err, &e) {
		return sql + ": " + e.Code
	}
	if err != nil {
		return sql + ": failed"
	}
	return sql + ": well"
}

func queries() {
	config, err := pgx.ParseConfig("postgres://user@127.0.0.1:1/db?sslmode=disable")
	if err != nil {
		panic(err)
	}
	config.DialFunc = func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go postgres(there)
		return here, nil
	}
	ctx := context.Background()
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		panic(err)
	}
	exec := func(ctx context.Context, sql string, args ...any) {
		began := time.Now()
		_, err := conn.Exec(ctx, sql, args...)
		note("exec", ended(sql, err), began)
	}
	query := func(ctx context.Context, sql string, args ...any) {
		began := time.Now()
		rows, err := conn.Query(ctx, sql, args...)
		if err == nil {
			for rows.Next() {
			}
			err = rows.Err()
		}
		note("query", ended(sql, err), began)
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	for range 6 {
		exec(ctx, "insert one")
		exec(ctx, "insert $1", "x")
		exec(ctx, "insert bad")
		exec(ctx, "insert bad $1", "x")
		query(ctx, "select all")
		query(ctx, "select $1", "x")
		query(ctx, "select bad $1", "x")
		query(ctx, "select one of $1")
	}
	for range 2 {
		exec(over, "insert too late")
		query(over, "select too late")
	}
	var text string
	for range 5 {
		began := time.Now()
		err := conn.QueryRow(ctx, "select a row").Scan(&text)
		note("query", ended("select a row", err), began)
	}
	for range 3 {
		began := time.Now()
		tx, err := conn.Begin(ctx)
		if err == nil {
			_, err = tx.Exec(ctx, "insert in transaction")
		}
		if err == nil {
			err = tx.Commit(ctx)
		}
		if err != nil {
			panic(err)
		}
		for _, sql := range []string{"begin", "insert in transaction", "commit"} {
			note("exec", ended(sql, nil), began)
		}
	}
	conn.Close(ctx)
}
