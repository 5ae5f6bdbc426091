//! `#[derive(Tree)]`: a struct or enum as a tree of tensors and static values.
//!
//! Fields are visited in the order they are declared. The name of a field is a step of the path (`blocks.0.ln1.weight`); a tuple struct
//! of one field and a field marked `#[tree(flatten)]` add no step; `#[tree(name = "self")]` gives a step another name. `#[tree(skip)]` leaves a field out: compiled functions then do not
//! see changes of it.

use proc_macro::TokenStream;
use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::{Ident, Span, TokenStream as Tokens};
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Field, Fields, LitStr, Member, parse_macro_input, parse_quote};

#[proc_macro_derive(Tree, attributes(tree))]
pub fn derive_tree(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand(input).unwrap_or_else(|e| e.to_compile_error()).into()
}

fn expand(mut input: DeriveInput) -> syn::Result<Tokens> {
    let krate = root();
    for p in input.generics.type_params_mut() {
        p.bounds.push(parse_quote!(#krate::Tree));
    }
    let (visit, visit_mut, set_training) = match &input.data {
        Data::Struct(s) => {
            let pattern = pattern(&s.fields);
            let walk = |w| body(&s.fields, &krate, w).map(|b| quote!(let Self #pattern = self; #b));
            (walk(Walk::Visit)?, walk(Walk::VisitMut)?, walk(Walk::SetTraining)?)
        }
        Data::Enum(e) => {
            let (mut visit, mut visit_mut, mut set_training) = (Tokens::new(), Tokens::new(), Tokens::new());
            for variant in &e.variants {
                let (name, text) = (&variant.ident, variant.ident.to_string());
                let pattern = pattern(&variant.fields);
                let walk = |w| body(&variant.fields, &krate, w);
                let (v, m, t) = (walk(Walk::Visit)?, walk(Walk::VisitMut)?, walk(Walk::SetTraining)?);
                visit.extend(quote!(Self::#name #pattern => { visitor.value(#krate::Static::Variant(#text)); #v }));
                visit_mut.extend(quote!(Self::#name #pattern => { #m }));
                set_training.extend(quote!(Self::#name #pattern => { #t }));
            }
            (quote!(match self { #visit }), quote!(match self { #visit_mut }), quote!(match self { #set_training }))
        }
        Data::Union(u) => return Err(syn::Error::new(u.union_token.span, "a union cannot be a tree: nobody knows which field holds")),
    };
    let name = &input.ident;
    let (imp, ty, wh) = input.generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        #[allow(unused_variables)]
        impl #imp #krate::Tree for #name #ty #wh {
            fn visit(&self, visitor: &mut dyn #krate::Visitor) { #visit }
            fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut #krate::Tensor)) { #visit_mut }
            fn set_training(&mut self, training: bool) { #set_training }
        }
    })
}

/// What a field's attribute says.
enum Mark {
    Named,
    /// Under this name instead of the field's.
    Renamed(LitStr),
    Flatten,
    Skip,
}

fn mark(field: &Field) -> syn::Result<Mark> {
    let mut mark = Mark::Named;
    for attr in field.attrs.iter().filter(|a| a.path().is_ident("tree")) {
        attr.parse_nested_meta(|meta| {
            mark = if meta.path.is_ident("flatten") {
                Mark::Flatten
            } else if meta.path.is_ident("skip") {
                Mark::Skip
            } else if meta.path.is_ident("name") {
                Mark::Renamed(meta.value()?.parse()?)
            } else {
                return Err(meta.error("expected `flatten`, `skip` or `name = \"..\"`"));
            };
            Ok(())
        })?;
    }
    Ok(mark)
}

// Binds every field to `f0`, `f1`, ..
fn pattern(fields: &Fields) -> Tokens {
    let bind = fields.members().enumerate().map(|(i, m)| {
        let f = format_ident!("f{i}");
        quote!(#m: #f)
    });
    quote!({ #(#bind),* })
}

/// The method that a body is of.
#[derive(Clone, Copy, PartialEq)]
enum Walk {
    Visit,
    VisitMut,
    SetTraining,
}

fn body(fields: &Fields, krate: &Tokens, walk: Walk) -> syn::Result<Tokens> {
    let newtype = matches!(fields, Fields::Unnamed(f) if f.unnamed.len() == 1);
    let mut out = Tokens::new();
    for (i, (field, member)) in fields.iter().zip(fields.members()).enumerate() {
        let f = format_ident!("f{i}");
        let mark = mark(field)?;
        out.extend(match (&mark, walk) {
            (Mark::Skip, _) => Tokens::new(),
            (_, Walk::VisitMut) => quote!(#krate::Tree::visit_mut(#f, visitor);),
            (_, Walk::SetTraining) => quote!(#krate::Tree::set_training(#f, training);),
            (Mark::Flatten, Walk::Visit) => quote!(#krate::Tree::visit(#f, visitor);),
            (Mark::Named, Walk::Visit) if newtype => quote!(#krate::Tree::visit(#f, visitor);),
            (Mark::Named | Mark::Renamed(_), Walk::Visit) => {
                let key = match (&mark, member) {
                    (Mark::Renamed(name), _) => quote!(#krate::Key::Name(#name)),
                    (_, Member::Named(n)) => {
                        let n = n.to_string();
                        let n = n.trim_start_matches("r#");
                        quote!(#krate::Key::Name(#n))
                    }
                    (_, Member::Unnamed(i)) => {
                        let i = i.index as usize;
                        quote!(#krate::Key::Index(#i))
                    }
                };
                quote!(visitor.enter(#key); #krate::Tree::visit(#f, visitor); visitor.exit();)
            }
        });
    }
    Ok(out)
}

// The crate that exports the trait: whoever derives depends on the facade or on the tensor crate itself.
fn root() -> Tokens {
    for (package, own) in [("aludel-tensor", "aludel_tensor"), ("aludel", "aludel")] {
        match crate_name(package) {
            Ok(FoundCrate::Itself) => {
                let own = Ident::new(own, Span::call_site());
                return quote!(::#own);
            }
            Ok(FoundCrate::Name(name)) => {
                let name = Ident::new(&name, Span::call_site());
                return quote!(::#name);
            }
            Err(_) => {}
        }
    }
    quote!(::aludel)
}
