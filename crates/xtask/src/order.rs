//! The order of a module's functions: those that are written alike follow each other. What a page loads is gzipped, which finds what it has
//! seen only up to 32 kB back; a linker's order, and one by length, have few such neighbours.

use anyhow::{Context, Result};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::ops::Range;
use wasm_encoder::reencode::{self, Reencode, utils};
use wasmparser::{Parser, Payload, TypeRef};

/// So many bytes make a piece by which functions are compared: some three instructions.
const PIECE: usize = 8;

/// A piece that more functions have says nothing of which ones are alike.
const COMMON: usize = 1000;

/// How far back a function may be to count as a neighbour: somewhat less than gzip's window.
const WINDOW: usize = 28_000;

/// The module with its functions in such an order.
///
/// # Errors
///
/// When it is none.
pub fn alike(module: &[u8]) -> Result<Vec<u8>> {
    let (imported, bodies) = functions(module)?;
    let order = neighbours(&bodies.iter().map(|range| &module[range.clone()]).collect::<Vec<_>>());
    let mut places: Vec<u32> = (0..imported + order.len() as u32).collect();
    for (place, function) in (imported..).zip(&order) {
        places[imported as usize + function] = place;
    }
    let mut out = wasm_encoder::Module::new();
    Ordered { order, places }
        .parse_core_module(&mut out, Parser::new(0), module)
        .map_err(|e| anyhow::anyhow!("a module whose functions cannot be ordered: {e}"))?;
    Ok(out.finish())
}

/// How many functions a module imports, and where the bodies of its own are.
fn functions(module: &[u8]) -> Result<(u32, Vec<Range<usize>>)> {
    let (mut imported, mut bodies) = (0, Vec::new());
    for payload in Parser::new(0).parse_all(module) {
        match payload.context("not a module of wasm")? {
            Payload::ImportSection(section) => {
                for import in section.into_imports() {
                    imported += u32::from(matches!(import?.ty, TypeRef::Func(_)));
                }
            }
            Payload::CodeSectionEntry(body) => bodies.push(body.range()),
            _ => {}
        }
    }
    Ok((imported, bodies))
}

/// The pieces that each function shares with others, by numbers, and the functions that have each piece.
fn shared(bodies: &[&[u8]]) -> (Vec<Vec<usize>>, Vec<Vec<usize>>) {
    let mut all: Vec<(&[u8], usize)> = bodies.iter().enumerate().flat_map(|(i, body)| body.windows(PIECE).map(move |w| (w, i))).collect();
    all.sort_unstable();
    all.dedup();
    let (mut of, mut having) = (vec![Vec::new(); bodies.len()], Vec::new());
    for same in all.chunk_by(|a, b| a.0 == b.0).filter(|same| (2..=COMMON).contains(&same.len())) {
        same.iter().for_each(|(_, function)| of[*function].push(having.len()));
        having.push(same.iter().map(|(_, function)| *function).collect());
    }
    (of, having)
}

/// An order of functions in which each, the longest first, is followed by the one that has the largest part of its pieces in the window.
fn neighbours(bodies: &[&[u8]]) -> Vec<usize> {
    let (of, having) = shared(bodies);
    // A short function is seldom worth its place, a long one is not to come first because it has some of everything.
    let weights: Vec<f64> = of.iter().map(|pieces| (pieces.len() as f64 + 20.0).sqrt()).map(|root| 1.0 / (root * root.sqrt())).collect();
    let (mut seen, mut known) = (vec![0_u32; having.len()], vec![0_i32; bodies.len()]);
    let (mut window, mut length) = (VecDeque::new(), 0);
    let mut left: Vec<usize> = (0..bodies.len()).collect();
    let mut order = Vec::with_capacity(bodies.len());
    let mut next = left.iter().copied().max_by_key(|i| (bodies[*i].len(), std::cmp::Reverse(*i)));
    while let Some(function) = next {
        left.retain(|i| *i != function);
        order.push(function);
        window.push_back(function);
        length += bodies[function].len();
        for piece in &of[function] {
            seen[*piece] += 1;
            if seen[*piece] == 1 {
                having[*piece].iter().for_each(|i| known[*i] += 1);
            }
        }
        while length > WINDOW && window.len() > 1 {
            let Some(gone) = window.pop_front() else { break };
            length -= bodies[gone].len();
            for piece in &of[gone] {
                seen[*piece] -= 1;
                if seen[*piece] == 0 {
                    having[*piece].iter().for_each(|i| known[*i] -= 1);
                }
            }
        }
        let worth = |i: usize| f64::from(known[i]) * weights[i];
        next = left.iter().copied().max_by(|a, b| worth(*a).total_cmp(&worth(*b)).then(b.cmp(a)));
    }
    order
}

/// Writes a module anew with its functions in an order.
struct Ordered {
    order: Vec<usize>,
    /// The new number of each function, imported ones among them.
    places: Vec<u32>,
}

impl Reencode for Ordered {
    type Error = Infallible;

    fn function_index(&mut self, function: u32) -> Result<u32, reencode::Error<Infallible>> {
        Ok(self.places[function as usize])
    }

    fn parse_function_section(
        &mut self,
        functions: &mut wasm_encoder::FunctionSection,
        section: wasmparser::FunctionSectionReader<'_>,
    ) -> Result<(), reencode::Error<Infallible>> {
        let types = section.into_iter().collect::<Result<Vec<u32>, _>>()?;
        for function in &self.order {
            functions.function(types[*function]);
        }
        Ok(())
    }

    fn parse_code_section(
        &mut self,
        code: &mut wasm_encoder::CodeSection,
        section: wasmparser::CodeSectionReader<'_>,
    ) -> Result<(), reencode::Error<Infallible>> {
        let bodies = section.into_iter().collect::<Result<Vec<_>, _>>()?;
        for function in self.order.clone() {
            utils::parse_function_body(self, code, bodies[function].clone())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasm_encoder::{CodeSection, EntityType, ExportKind, ExportSection, Function, FunctionSection, ImportSection, Module, TypeSection};

    /// What each function of a module computes, as the text of its instructions, and the numbers of those that are exported, by name.
    fn read(module: &[u8]) -> (Vec<String>, Vec<(String, u32)>) {
        let (mut bodies, mut exports) = (Vec::new(), Vec::new());
        for payload in Parser::new(0).parse_all(module) {
            match payload.unwrap() {
                Payload::CodeSectionEntry(body) => {
                    let operators = body.get_operators_reader().unwrap().into_iter().map(|o| format!("{:?}", o.unwrap()));
                    bodies.push(operators.collect::<Vec<_>>().join(" "));
                }
                Payload::ExportSection(section) => {
                    exports.extend(section.into_iter().map(|e| e.unwrap()).map(|e| (e.name.to_string(), e.index)))
                }
                _ => {}
            }
        }
        (bodies, exports)
    }

    #[test]
    fn functions_that_are_alike_follow_each_other_and_keep_who_calls_them() {
        let (mut types, mut imports, mut functions) = (TypeSection::new(), ImportSection::new(), FunctionSection::new());
        types.ty().function([], []);
        imports.import("env", "tell", EntityType::Function(0));
        let (mut code, mut exports) = (CodeSection::new(), ExportSection::new());
        // Two kinds by turns, the first one longer; each calls the one before it.
        for (number, (kind, name)) in [(1000, "a"), (2000, "b"), (1000, "c"), (2000, "d")].into_iter().enumerate() {
            functions.function(0);
            let mut body = Function::new([]);
            let mut write = body.instructions();
            for i in 0..if kind == 1000 { 30 } else { 20 } {
                write.i32_const(kind + i).drop();
            }
            write.call(number as u32).end();
            code.function(&body);
            exports.export(name, ExportKind::Func, number as u32 + 1);
        }
        let mut module = Module::new();
        module.section(&types).section(&imports).section(&functions).section(&exports).section(&code);
        let module = module.finish();
        let ordered = alike(&module).unwrap();
        let ((before, named), (after, names)) = (read(&module), read(&ordered));
        assert_eq!(names.iter().map(|(_, index)| *index).collect::<Vec<_>>(), [1, 3, 2, 4]);
        let called = |bodies: &[String], index: u32| {
            let body = &bodies[index as usize - 1];
            let (said, call) = body.split_once("Call").unwrap();
            let number: u32 = call.chars().filter(char::is_ascii_digit).collect::<String>().parse().unwrap();
            (said.to_string(), number)
        };
        for ((name, old), (same, new)) in named.iter().zip(&names) {
            let ((said, callee), (says, calls)) = (called(&before, *old), called(&after, *new));
            let at = |names: &[(String, u32)], index| names.iter().find(|(_, i)| *i == index).map(|(n, _)| n.clone());
            assert_eq!((name, said, at(&named, callee)), (same, says, at(&names, calls)));
        }
    }
}
