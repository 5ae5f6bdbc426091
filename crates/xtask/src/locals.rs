//! The numbers of a function's locals: those of a type by how often they are used, and none that is not used. So functions that do the same
//! with other variables are written alike more often, which is what gzip finds.

use anyhow::Result;
use std::cmp::Reverse;
use std::convert::Infallible;
use wasm_encoder::Instruction;
use wasm_encoder::reencode::{self, Reencode, utils};
use wasmparser::{FunctionBody, Operator, OperatorsReader, Parser, Payload, ValType};

/// The module with its locals numbered so.
///
/// # Errors
///
/// When it is none.
pub fn by_use(module: &[u8]) -> Result<Vec<u8>> {
    let (mut types, mut parameters) = (Vec::new(), Vec::new());
    for payload in Parser::new(0).parse_all(module) {
        match payload? {
            Payload::TypeSection(section) => {
                for function in section.into_iter_err_on_gc_types() {
                    types.push(function?.params().len());
                }
            }
            Payload::FunctionSection(section) => {
                for function in section {
                    parameters.push(types[function? as usize]);
                }
            }
            _ => {}
        }
    }
    let mut out = wasm_encoder::Module::new();
    Numbered { parameters: parameters.into_iter(), numbers: Vec::new() }
        .parse_core_module(&mut out, Parser::new(0), module)
        .map_err(|e| anyhow::anyhow!("a module whose locals cannot be numbered: {e}"))?;
    Ok(out.finish())
}

/// Writes a module anew with other numbers of locals.
struct Numbered<P> {
    /// How many parameters each function has that is still to come.
    parameters: P,
    /// Of the function that is written, the new number of each local.
    numbers: Vec<u32>,
}

impl<P: Iterator<Item = usize>> Reencode for Numbered<P> {
    type Error = Infallible;

    fn new_function_with_parsed_locals(&mut self, body: &FunctionBody<'_>) -> Result<wasm_encoder::Function, reencode::Error<Infallible>> {
        let parameters = self.parameters.next().unwrap_or_default();
        let mut types: Vec<ValType> = Vec::new();
        for declared in body.get_locals_reader()? {
            let (count, kind) = declared?;
            types.extend(std::iter::repeat_n(kind, count as usize));
        }
        let mut uses = vec![0_u32; parameters + types.len()];
        for operator in body.get_operators_reader()? {
            if let Operator::LocalGet { local_index } | Operator::LocalSet { local_index } | Operator::LocalTee { local_index } = operator?
            {
                uses[local_index as usize] += 1;
            }
        }
        // A declaration is a type and how many there are of it.
        let kinds = [ValType::I32, ValType::I64, ValType::F32, ValType::F64];
        let mut order: Vec<usize> = (0..types.len()).filter(|local| uses[parameters + local] > 0).collect();
        order.sort_by_key(|local| (kinds.iter().position(|kind| *kind == types[*local]), Reverse(uses[parameters + local])));
        self.numbers = (0..uses.len() as u32).collect();
        for (number, local) in (parameters as u32..).zip(&order) {
            self.numbers[parameters + local] = number;
        }
        let kinds = order.into_iter().map(|local| self.val_type(types[local])).collect::<Result<Vec<_>, _>>()?;
        let declared: Vec<_> = kinds.chunk_by(|a, b| a == b).map(|same| (same.len() as u32, same[0])).collect();
        Ok(wasm_encoder::Function::new(declared))
    }

    fn parse_instruction<'a>(&mut self, reader: &mut OperatorsReader<'a>) -> Result<Instruction<'a>, reencode::Error<Infallible>> {
        let instruction = utils::parse_instruction(self, reader)?;
        let number = |local: u32| self.numbers[local as usize];
        Ok(match instruction {
            Instruction::LocalGet(local) => Instruction::LocalGet(number(local)),
            Instruction::LocalSet(local) => Instruction::LocalSet(number(local)),
            Instruction::LocalTee(local) => Instruction::LocalTee(number(local)),
            other => other,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasm_encoder::{CodeSection, Function, FunctionSection, Module, TypeSection, ValType};

    #[test]
    fn locals_are_numbered_by_use_within_their_types() {
        let (mut types, mut functions, mut code) = (TypeSection::new(), FunctionSection::new(), CodeSection::new());
        types.ty().function([ValType::F64], []);
        functions.function(0);
        // After the parameter: one of i64 used once, two of i32 of which the first is never used, another of i64 used three times.
        let mut body = Function::new([(1, ValType::I64), (2, ValType::I32), (1, ValType::I64)]);
        let mut write = body.instructions();
        write.local_get(0).drop().local_get(1).drop().local_get(3).drop().local_get(4).local_tee(4).local_set(4).end();
        code.function(&body);
        let mut module = Module::new();
        module.section(&types).section(&functions).section(&code);
        let numbered = by_use(&module.finish()).unwrap();
        let mut seen = Vec::new();
        for payload in Parser::new(0).parse_all(&numbered) {
            if let Payload::CodeSectionEntry(body) = payload.unwrap() {
                seen.extend(body.get_locals_reader().unwrap().into_iter().map(|l| format!("{:?}", l.unwrap())));
                seen.extend(
                    body.get_operators_reader()
                        .unwrap()
                        .into_iter()
                        .map(|o| format!("{:?}", o.unwrap()))
                        .filter(|o| o.starts_with("Local")),
                );
            }
        }
        let of = |operator: &str, local: u32| format!("{operator} {{ local_index: {local} }}");
        let locals = ["(1, I32)".to_string(), "(2, I64)".to_string()];
        let uses = [of("LocalGet", 0), of("LocalGet", 3), of("LocalGet", 1), of("LocalGet", 2), of("LocalTee", 2), of("LocalSet", 2)];
        assert_eq!(seen, [&locals[..], &uses].concat());
    }
}
