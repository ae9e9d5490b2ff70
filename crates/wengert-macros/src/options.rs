//! What stands in the parentheses of the attribute.

use syn::parse::{Parse, ParseStream};

/// The options of an attribute.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// Whether the derivative is printed as the compiler runs.
    pub(crate) show: bool,
}

impl Parse for Options {
    fn parse(input: ParseStream) -> syn::Result<Options> {
        let mut options = Options::default();
        while !input.is_empty() {
            let word: syn::Ident = input.parse()?;
            match word.to_string().as_str() {
                "show" => options.show = true,
                other => {
                    let message = format!(
                        "there is no option `{other}`; there is `show`, which prints the derivative"
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
