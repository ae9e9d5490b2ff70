//! Every workload: its program, arguments, adjoint by hand, reference gradient and bar.
// References come from extended precision and keep all its digits.
#![allow(clippy::excessive_precision)]

use crate::by_hand::{self, A, KEPLER, LORENZ};
use crate::workload::{Bars, Part, Reference, Workload};
use crate::{data, hand};
use wengert_core::interp::Val;
use wengert_core::ops::{Array, Data};

/// A program of the examples.
macro_rules! example {
    ($name:literal) => {
        include_str!(concat!("../../../examples/", $name, ".py"))
    };
}

fn numbers(values: &[f64], n: usize) -> Vec<Val> {
    values.iter().map(|x| Val::f64(*x)).chain([Val::i64(n as i64)]).collect()
}

fn matrix(rows: usize, columns: usize, data: Vec<f64>) -> Val {
    Val::shaped(Array { shape: vec![rows, columns], data: Data::F64(data) })
}

const NUMBERS: &[Part] = &[Part::Numbers];
const DIGEST: &[Part] = &[Part::Digest(None)];

/// Every workload with a gradient to compare.
pub const ALL: &[Workload] = &[
    Workload {
        name: "a",
        about: "scalar recurrence of tanh, the mean of its states",
        source: example!("workload_a"),
        wrt: &[0, 1, 2],
        sizes: &[1_000_000],
        small: &[0, 1, 2, 1000],
        args: |n| numbers(&A, n),
        hand: by_hand::a,
        lanes: None,
        iterations: |n| n,
        bars: Bars { jit: Some(1.3), cc: 1.15 },
        parts: NUMBERS,
        reference: Some(Reference {
            n: 1_000_000,
            expected: &[
                5.01595964238704254e-01,
                1.14996914974113894e+00,
                2.29262042640867127e+00,
                2.06881111383359055e-06,
            ],
            tolerance: 1e-10,
        }),
    },
    Workload {
        name: "a0",
        about: "the same, its last state: the adjoint decays",
        source: include_str!("../programs/a0.py"),
        wrt: &[0, 1],
        sizes: &[1_000_000],
        small: &[0, 1, 2, 1000],
        args: |n| numbers(&A, n),
        hand: by_hand::a0,
        lanes: None,
        iterations: |n| n,
        bars: Bars { jit: Some(1.3), cc: 1.15 },
        parts: NUMBERS,
        reference: None,
    },
    Workload {
        name: "b",
        about: "recurrent network, 64 wide",
        source: example!("workload_b"),
        wrt: &[0, 1, 2],
        sizes: &[data::RNN.0],
        small: &[1, 40],
        args: |n| {
            let [w, u, b, x] = data::rnn(n);
            vec![matrix(64, 64, w), matrix(64, 64, u), Val::array(b), matrix(n, 64, x)]
        },
        hand: by_hand::b,
        lanes: None,
        iterations: |n| n,
        bars: Bars { jit: Some(1.6), cc: 1.3 },
        parts: &[Part::Digest(Some(4096)), Part::Digest(Some(4096)), Part::Digest(None)],
        reference: Some(Reference {
            n: data::RNN.0,
            expected: &[
                1.1285325123130667e+01,
                1.4984231695787648e-01,
                -7.6253387913712174e-03,
                1.3547505054356984e-01,
                1.0065318403274734e+01,
                1.1620652947841377e+00,
                -4.9177133073526384e-02,
                -4.7937969389373544e-03,
                1.9411009572505734e-02,
                -5.6358461365153167e-01,
                9.0268465910950879e-01,
                -2.0875559638780836e-02,
                -6.4303320045956272e-03,
                7.9416576454531822e-04,
                -1.7025905996358773e-01,
                -1.0216414564180804e-01,
            ],
            tolerance: 1e-9,
        }),
    },
    Workload {
        name: "c",
        about: "Lorenz system by Runge and Kutta's method",
        source: example!("workload_c"),
        wrt: &[0, 1, 2, 3, 4, 5],
        sizes: &[1_000_000],
        small: &[0, 1, 2, 500],
        args: |n| numbers(&LORENZ, n),
        hand: by_hand::c,
        lanes: None,
        iterations: |n| n,
        bars: Bars { jit: Some(1.3), cc: 1.15 },
        parts: NUMBERS,
        reference: Some(LORENZ_REFERENCE),
    },
    Workload {
        name: "c3",
        about: "the same with vectors of three",
        source: include_str!("../programs/c3.py"),
        wrt: &[0, 1, 2, 3, 4, 5],
        sizes: &[1_000_000],
        small: &[0, 1, 2, 500],
        args: |n| numbers(&LORENZ, n),
        hand: by_hand::c,
        lanes: None,
        iterations: |n| n,
        bars: Bars { jit: Some(1.3), cc: 1.15 },
        parts: NUMBERS,
        reference: Some(LORENZ_REFERENCE),
    },
    Workload {
        name: "d",
        about: "heat in a plate of 256 by 256 cells",
        source: example!("workload_d"),
        wrt: &[0],
        sizes: &[data::HEAT.1],
        small: &[1],
        args: |n| vec![matrix(256, 256, data::plate(256)), Val::i64(n as i64)],
        hand: by_hand::d,
        lanes: None,
        iterations: |n| n,
        bars: Bars { jit: Some(2.0), cc: 1.3 },
        parts: DIGEST,
        reference: Some(Reference {
            n: data::HEAT.1,
            expected: &[
                3.7303898751408396e+03,
                1.0e-01,
                -1.7589914396271500e+00,
                -9.9821971947235688e-02,
                7.8408941159958636e+02,
                -2.4687204647099503e-01,
            ],
            tolerance: 1e-11,
        }),
    },
    Workload {
        name: "d2",
        about: "the same with a reaction: needs the states",
        source: example!("workload_d2"),
        wrt: &[0],
        sizes: &[data::HEAT.1],
        small: &[1],
        args: |n| vec![matrix(256, 256, data::plate(256)), Val::i64(n as i64)],
        hand: by_hand::d2,
        lanes: None,
        iterations: |n| n,
        bars: Bars { jit: None, cc: 1.3 },
        parts: DIGEST,
        reference: Some(Reference {
            n: data::HEAT.1,
            expected: &[
                2.4867067200934252e+04,
                1.0e-01,
                -3.0904109770934558e+00,
                -9.9821971947235688e-02,
                1.8960322151886902e+02,
                -9.3857507319112976e-01,
            ],
            tolerance: 1e-11,
        }),
    },
    Workload {
        name: "e",
        about: "option price by simulation of Heston's model",
        source: example!("workload_e"),
        wrt: &[2, 3, 4, 5, 6],
        sizes: &[data::HESTON.0],
        small: &[1, 3],
        args: |n| {
            let [z1, z2] = data::normals(n, data::HESTON.1);
            let mut args = vec![matrix(n, data::HESTON.1, z1), matrix(n, data::HESTON.1, z2)];
            args.extend(data::HESTON_POINT.map(Val::f64));
            args.push(Val::f64(data::HESTON_RATE));
            args
        },
        hand: by_hand::e,
        lanes: Some(by_hand::e_lanes),
        iterations: |n| n * data::HESTON.1,
        bars: Bars { jit: None, cc: 1.3 },
        parts: NUMBERS,
        reference: Some(Reference {
            n: data::HESTON.0,
            expected: &[
                9.1612921746594704e+00,
                3.8357300556274794e+01,
                2.2688584070616852e-01,
                5.2170846361609378e+01,
                -1.4630955880060126e+00,
                4.4616626318273241e-02,
            ],
            tolerance: 1e-11,
        }),
    },
    Workload {
        name: "f1",
        about: "power iteration until it settles, 64 by 64",
        source: example!("workload_f1"),
        wrt: &[0],
        sizes: &[205],
        small: &[205],
        args: |_| {
            let start = Val::array(vec![0.125; 64]);
            vec![matrix(64, 64, data::power_matrix()), start, Val::f64(1e-12)]
        },
        hand: by_hand::f1,
        lanes: None,
        iterations: |_| 205,
        bars: Bars { jit: None, cc: 1.3 },
        parts: DIGEST,
        reference: Some(Reference {
            n: 205,
            expected: &[
                2.5788251551455961e+01,
                -4.1434730535962427e-04,
                1.4344616005998964e-02,
                4.0124130075038629e-02,
                5.5391583760682053e+01,
                2.5734625838053860e-01,
            ],
            tolerance: 1e-9,
        }),
    },
    Workload {
        name: "f2",
        about: "Kepler's equation by fixed point",
        source: example!("workload_f2"),
        wrt: &[0, 1],
        sizes: &[425],
        small: &[425],
        args: |_| KEPLER.map(Val::f64).to_vec(),
        hand: by_hand::f2,
        lanes: None,
        iterations: |_| 425,
        bars: Bars { jit: Some(1.3), cc: 1.15 },
        parts: NUMBERS,
        reference: Some(Reference {
            n: 425,
            expected: &[3.4227031649164263e-01, 1.4831330137118604e+01, 4.9777886450451403e+00],
            tolerance: 1e-11,
        }),
    },
    Workload {
        name: "f3",
        about: "Gauss and Seidel's method in place until it settles",
        source: example!("workload_f3"),
        wrt: &[1, 0],
        sizes: &[1195],
        small: &[1195],
        args: |_| vec![Val::f64(data::CHAIN_DIAGONAL), Val::array(data::chain())],
        hand: by_hand::f3,
        lanes: None,
        iterations: |_| 1195,
        bars: Bars { jit: None, cc: 1.3 },
        parts: DIGEST,
        reference: Some(Reference {
            n: 1195,
            expected: &[
                2.4549776551136681e+01,
                9.6654850613124621e-02,
                -3.4017257819224575e+01,
                -3.2462558622508294e+02,
                -1.0980841739668044e+03,
                -2.3034981906374253e+02,
            ],
            tolerance: 1e-9,
        }),
    },
    Workload {
        name: "g",
        about: "steps of Adam, by its settings",
        source: example!("workload_g"),
        wrt: &[2, 3, 4],
        sizes: &[1000],
        small: &[1, 40],
        args: |n| {
            let ([a, y], (rows, columns)) = (data::least_squares(), data::ADAM);
            let mut args = vec![matrix(rows, columns, a), Val::array(y)];
            args.extend(numbers(&data::ADAM_POINT, n));
            args
        },
        hand: by_hand::g,
        lanes: None,
        iterations: |n| n,
        bars: Bars { jit: Some(1.6), cc: 1.3 },
        parts: NUMBERS,
        reference: Some(Reference {
            n: 1000,
            expected: &[
                2.5523112328591648e-02,
                -2.5959879618285189e-03,
                -1.223158354528839e-06,
                1.9855277026970629e-04,
            ],
            tolerance: 1e-7,
        }),
    },
    Workload {
        name: "h",
        about: "recurrence over an array in place",
        source: example!("workload_h"),
        wrt: &[0],
        sizes: &[1_000, 10_000, 100_000, 1_000_000],
        small: &[1, 2, 3000],
        args: |n| vec![Val::array(hand::h_start(n))],
        hand: by_hand::h,
        lanes: Some(by_hand::h_lanes),
        iterations: |n| n,
        bars: Bars { jit: Some(1.3), cc: 1.15 },
        parts: DIGEST,
        reference: Some(Reference {
            n: 100_000,
            expected: &[
                5.5479481902038271e+04,
                1.0972593880015984e+00,
                1.7134496513954253e-01,
                8.9869012677979554e-01,
                3.3015743254224089e+05,
                -3.6351895307363705e+01,
            ],
            tolerance: 1e-11,
        }),
    },
];

const LORENZ_REFERENCE: Reference = Reference {
    n: 1_000_000,
    expected: &[
        -8.17349993224224777e+00,
        5.45402025249461052e-02,
        -8.95125686806230130e-01,
        -5.02177200290338762e+00,
        -6.38842737841218317e-01,
        -5.17635717610466943e-01,
        2.56025332616007705e-01,
    ],
    tolerance: 1e-9,
};
