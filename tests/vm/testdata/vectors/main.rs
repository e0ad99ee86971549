// As main.go, for Rust.
use std::hint::black_box;

#[inline(never)]
#[no_mangle]
fn one(n: i32, x: f64, y: f32) -> f64 { x + y as f64 + n as f64 }

#[inline(never)]
#[no_mangle]
fn lesser(a: f32, b: f64) -> f32 { a - b as f32 }

#[inline(never)]
#[no_mangle]
fn check(n: i64, half: f64, third: f32) -> f64 { black_box(third); if n < 0 { 0.0 } else { half * 4.0 } }

fn text(x: f64) -> String {
    if x.is_nan() { return "nan".into(); }
    if x.is_infinite() { return if x > 0.0 { "inf".into() } else { "-inf".into() }; }
    format!("{:e}", x)
}

fn main() {
    let rounds: i64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let edges = [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, 5e-324, -1.5e-323,
        f32::MAX as f64, 1e-45, 1.0, -1.0, f64::MIN_POSITIVE, f32::MIN_POSITIVE as f64, 1e16 + 2.0];
    let mut state = 88172645463325252u64;
    let mut at = 0;
    let mut draw = || {
        at += 1;
        if at <= 48 { return edges[at % 16]; }
        state ^= state << 13; state ^= state >> 7; state ^= state << 17;
        if state % 3 == 0 { f64::from_bits(state & !(1 << 62)) } else { (state % 1000000) as f64 / 512.0 - 900.0 }
    };
    for i in 0..rounds {
        let (x, y) = (draw(), draw() as f32);
        println!("own one {} {} {} {}", i, text(x), text(y as f64), text(one(i as i32, x, y)));
        println!("own lesser {} {} {}", text(y as f64), text(x), text(lesser(y, x) as f64));
    }
    black_box(one(-1, 1.5, -0.25));
    let all: Vec<_> = (0..8).map(|g| std::thread::spawn(move || {
        for i in 0..rounds * 5 {
            let n = g * 100000 + i;
            assert!(check(n, n as f64 / 2.0, n as f32 / 3.0) == n as f64 * 2.0);
            if i % 16 == 0 { std::thread::yield_now(); }
        }
    })).collect();
    for t in all { t.join().unwrap(); }
    println!("own checks {}", rounds * 5 * 8);
}
