//! Arguments of a call, by position or by name, and what to differentiate by.

use crate::value::Value;

/// One argument.
#[derive(Clone, Debug, PartialEq)]
pub struct Arg {
    /// The parameter it is for; by position where there is none.
    pub name: Option<String>,
    /// Its value.
    pub value: Value,
}

impl<V: Into<Value>> From<V> for Arg {
    fn from(value: V) -> Arg {
        Arg { name: None, value: value.into() }
    }
}

impl<V: Into<Value>> From<(&str, V)> for Arg {
    fn from((name, value): (&str, V)) -> Arg {
        Arg { name: Some(name.into()), value: value.into() }
    }
}

/// The arguments of a call.
///
/// ```
/// use wengert::Args;
///
/// // By position:
/// Args::from([2.0, 1.0]);
/// // By name:
/// Args::from([("a", 2.0), ("x0", 1.0)]);
/// // Of different types, some by name; an array is one argument:
/// Args::from((2.0, vec![1.0, 0.5], ("n", 100)));
/// // One array:
/// Args::from([vec![1.0, 0.5]]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Args(pub Vec<Arg>);

impl<A: Into<Arg>> FromIterator<A> for Args {
    fn from_iter<I: IntoIterator<Item = A>>(args: I) -> Args {
        Args(args.into_iter().map(Into::into).collect())
    }
}

impl From<Vec<Arg>> for Args {
    fn from(args: Vec<Arg>) -> Args {
        Args(args)
    }
}

impl<A: Into<Arg>, const N: usize> From<[A; N]> for Args {
    fn from(args: [A; N]) -> Args {
        args.into_iter().collect()
    }
}

impl From<()> for Args {
    fn from((): ()) -> Args {
        Args::default()
    }
}

macro_rules! tuples {
    ($(($($name:ident)+))+) => {
        $(
            impl<$($name: Into<Arg>),+> From<($($name,)+)> for Args {
                #[allow(non_snake_case)]
                fn from(($($name,)+): ($($name,)+)) -> Args {
                    Args(vec![$($name.into()),+])
                }
            }
        )+
    };
}

tuples! {
    (A)
    (A B)
    (A B C)
    (A B C D)
    (A B C D E)
    (A B C D E F)
    (A B C D E F G)
    (A B C D E F G H)
}

/// The parameters to differentiate by.
///
/// ```
/// use wengert::Wrt;
///
/// assert_eq!(Wrt::from("a"), Wrt::Names(vec!["a".into()]));
/// assert_eq!(Wrt::from(["a", "x0"]), Wrt::Names(vec!["a".into(), "x0".into()]));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Wrt {
    /// Every float and array parameter, integers that became floats included.
    #[default]
    All,
    /// The parameters of these names.
    Names(Vec<String>),
}

impl From<&str> for Wrt {
    fn from(name: &str) -> Wrt {
        Wrt::Names(vec![name.into()])
    }
}

impl<const N: usize> From<[&str; N]> for Wrt {
    fn from(names: [&str; N]) -> Wrt {
        Wrt::Names(names.map(String::from).to_vec())
    }
}

impl From<&[&str]> for Wrt {
    fn from(names: &[&str]) -> Self {
        names.iter().map(|name| name.to_string()).collect::<Vec<String>>().into()
    }
}

impl From<Vec<String>> for Wrt {
    fn from(names: Vec<String>) -> Wrt {
        Wrt::Names(names)
    }
}
