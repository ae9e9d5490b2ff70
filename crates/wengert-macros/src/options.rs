//! What stands in the parentheses of the attribute.

use syn::parse::{Parse, ParseStream};
use wengert_core::quantity;

/// The options of an attribute.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// Whether the derivative is printed as the compiler runs.
    pub(crate) show: bool,
    /// The bytes that reverse mode keeps to.
    pub(crate) memory: Option<u64>,
    /// The parameters that differ between the members of a batch.
    pub(crate) batch: Vec<syn::Ident>,
}

impl Parse for Options {
    fn parse(input: ParseStream) -> syn::Result<Options> {
        let mut options = Options::default();
        while !input.is_empty() {
            let word: syn::Ident = input.parse()?;
            match word.to_string().as_str() {
                "show" => options.show = true,
                "memory" => options.memory = Some(memory(&word, input)?),
                "batch" => options.batch = batch(&word, input)?,
                other => {
                    let message = format!(
                        "there is no option `{other}`; there are `show`, which prints the derivative, `memory = \"64 MiB\"`, which \
                         reverse mode keeps to, and `batch(a, b)`, which names the arguments that differ between the members of a batch"
                    );
                    return Err(syn::Error::new(word.span(), message));
                }
            }
            if !input.is_empty() {
                input.parse::<syn::Token![,]>()?;
            }
        }
        Ok(options)
    }
}

/// Names of parameters in parentheses.
fn batch(word: &syn::Ident, input: ParseStream) -> syn::Result<Vec<syn::Ident>> {
    const WRITE: &str = "name the arguments of which each member has its own: `batch(a, b)`";
    if !input.peek(syn::token::Paren) {
        return Err(syn::Error::new(word.span(), WRITE));
    }
    let inside;
    syn::parenthesized!(inside in input);
    let wrong = |e: syn::Error| syn::Error::new(e.span(), WRITE);
    let names =
        inside.parse_terminated(<syn::Ident as syn::ext::IdentExt>::parse_any, syn::Token![,]);
    let names: Vec<syn::Ident> = names.map_err(wrong)?.into_iter().collect();
    match names.is_empty() {
        true => Err(syn::Error::new(word.span(), WRITE)),
        false => Ok(names),
    }
}

/// A number of bytes, as a text or a number.
fn memory(word: &syn::Ident, input: ParseStream) -> syn::Result<u64> {
    const WRITE: &str = "write how much as a text or a number of bytes: `memory = \"64 MiB\"`";
    if !input.peek(syn::Token![=]) {
        return Err(syn::Error::new(word.span(), WRITE));
    }
    input.parse::<syn::Token![=]>()?;
    let literal: syn::Lit = input.parse().map_err(|e| syn::Error::new(e.span(), WRITE))?;
    match &literal {
        syn::Lit::Str(text) => {
            quantity::bytes(&text.value()).map_err(|why| syn::Error::new(text.span(), why))
        }
        syn::Lit::Int(number) if ["", "u64", "usize"].contains(&number.suffix()) => {
            let why =
                |_| syn::Error::new(number.span(), format!("`{number}` is not a number of bytes"));
            number.base10_parse().map_err(why)
        }
        other => Err(syn::Error::new(other.span(), WRITE)),
    }
}
