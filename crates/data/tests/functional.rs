//! Columns computed from columns, against values computed by hand.
#![cfg(feature = "arrow")]

use aludel_data::table::arrow::array::{
    Array as _, ArrayRef, AsArray, Date32Array, Float32Array, Float64Array, Int32Array, Int64Array, ListArray, RecordBatch, StringArray,
};
use aludel_data::table::arrow::datatypes::{DataType, Int32Type, Int64Type};
use aludel_data::table::{DatePart, Expr, Join, Lookup, Statistics, Table, TablePipe, Transform, col, lit};
use aludel_data::{Values, pipe};
use std::sync::Arc;

fn table(columns: Vec<(&str, ArrayRef)>) -> Table {
    Table::new("t", RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true))).unwrap())
}

fn ints(values: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from(values.to_vec()))
}

fn floats(values: &[f64]) -> ArrayRef {
    Arc::new(Float64Array::from(values.to_vec()))
}

fn texts(values: &[Option<&str>]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

fn lists(values: &[&[i64]]) -> ArrayRef {
    Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(values.iter().map(|l| Some(l.iter().map(|x| Some(*x)).collect::<Vec<_>>()))))
}

/// What an expression makes of a column `x`.
fn of(x: ArrayRef, expression: Expr) -> ArrayRef {
    expression.evaluate(&table(vec![("x", x)])).unwrap()
}

fn error(x: ArrayRef, expression: Expr) -> String {
    expression.evaluate(&table(vec![("x", x)])).unwrap_err().to_string()
}

fn values(column: &ArrayRef) -> Vec<f64> {
    aludel_data::table::functional::cast(column, &DataType::Float64)
        .unwrap()
        .as_primitive::<arrow::datatypes::Float64Type>()
        .values()
        .to_vec()
}

/// The values of every list.
fn nested(column: &ArrayRef) -> Vec<Vec<f64>> {
    column.as_list::<i32>().iter().map(|l| values(&l.unwrap())).collect()
}

fn strings(column: &ArrayRef) -> Vec<Option<&str>> {
    column.as_string::<i32>().iter().collect()
}

#[test]
fn numbers() {
    let holes: ArrayRef = Arc::new(Float32Array::from(vec![Some(1.0), None, Some(-3.0)]));
    assert_eq!(values(&of(holes.clone(), col("x").fill_null(0.5))), [1.0, 0.5, -3.0]);
    assert_eq!(of(holes.clone(), col("x").fill_null(7)).data_type(), &DataType::Float32);
    let whole: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None]));
    assert_eq!(values(&of(whole.clone(), col("x").fill_null(7))), [1.0, 7.0]);
    assert_eq!(
        error(whole, col("x").fill_null(0.5)),
        "t: column `x`: fill_null: 0.5 is no Int32; give a whole number, or `cast` the column"
    );
    assert_eq!(values(&of(floats(&[-1.5, 0.2, 9.0]), col("x").clamp(-1.0, 1.0))), [-1.0, 0.2, 1.0]);
    let clamped = of(ints(&[-5, 3, 1 << 40]), col("x").clamp(-2.0, 10.0));
    assert_eq!((clamped.data_type(), values(&clamped)), (&DataType::Int64, vec![-2.0, 3.0, 10.0]));
    assert!(error(ints(&[1]), col("x").clamp(2.0, 1.0)).contains("give them in order"));
    let e = std::f64::consts::E;
    assert_eq!(values(&of(floats(&[1.0, e, 0.0]), col("x").log())), [0.0, 1.0, f64::NEG_INFINITY]);
    assert!(values(&of(floats(&[-1.0]), col("x").log()))[0].is_nan());
    assert_eq!(of(holes.clone(), col("x").log1p()).null_count(), 1, "null stays null");
    assert_eq!(values(&of(ints(&[0, 4, 9]), col("x").sqrt())), [0.0, 2.0, 3.0]);
    assert_eq!(values(&of(floats(&[-0.5, 1.5]), col("x").round())), [-1.0, 2.0]);
    assert_eq!(values(&of(floats(&[0.0]), col("x").sigmoid())), [0.5]);
    assert_eq!(values(&of(ints(&[3, -2]), (col("x") * 2 + 1) / 2)), [3.5, -1.5]);
    assert_eq!(values(&of(ints(&[3, -2]), -col("x") - 0.5)), [-3.5, 1.5]);
    let chosen = of(holes, col("x").gt(0.0).if_else(lit("up"), lit("not up")));
    assert_eq!(strings(&chosen), [Some("up"), Some("not up"), Some("not up")]);
    let chosen = of(ints(&[3, -3]), col("x").gt(0).if_else(1, 0));
    assert_eq!((chosen.data_type(), values(&chosen)), (&DataType::Int64, vec![1.0, 0.0]));
    assert_eq!(of(ints(&[3]), col("x") * 2.0).data_type(), &DataType::Float64);
    assert!(error(ints(&[i64::MAX]), col("x") + 1).contains("column `x`: add: "));
    let text = texts(&[Some("a")]);
    assert_eq!(error(text.clone(), col("x").log()), "t: column `x`: log: is Utf8, not numbers; `cast` it, or choose another column");
    assert!(error(text, col("y").log()).contains("column `y`: there is none; there are x"));
}

/// TorchArrow's own examples, of its documentation and its tests.
#[test]
fn recommendation() {
    let x = || ints(&[1, 2, 3, 5, 8, 10, 11]);
    assert_eq!(values(&of(x(), col("x").bucketize([2.0, 5.0, 10.0]))), [0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0]);
    assert_eq!(values(&of(floats(&[f64::NAN, -1e300]), col("x").bucketize([1.0]))), [1.0, 0.0]);
    assert!(error(x(), col("x").bucketize([2.0, 1.0])).contains("in order"));
    assert!(error(x(), col("x").bucketize([])).contains("in order"));
    assert_eq!(values(&of(x(), col("x").sigrid_hash(0, 100))), [60.0, 54.0, 54.0, 4.0, 67.0, 2.0, 25.0]);
    let all = of(ints(&(1..=16).collect::<Vec<_>>()), col("x").sigrid_hash(0, 100));
    assert_eq!(values(&all), [60, 54, 54, 9, 4, 91, 11, 67, 79, 2, 25, 92, 98, 83, 66, 2].map(f64::from));
    assert_eq!(nested(&of(lists(&[&[1], &[14, 15, 16]]), col("x").sigrid_hash(0, 100))), [vec![60.0], vec![83.0, 66.0, 2.0]]);
    assert_eq!(values(&of(ints(&[5, -5]), col("x").sigrid_hash(9, 1))), [0.0, 0.0]);
    assert!(error(x(), col("x").sigrid_hash(0, 0)).contains("give one above 0"));
    assert!(error(floats(&[1.0]), col("x").sigrid_hash(0, 9)).contains("is Float64, not integers"));
    assert_eq!(nested(&of(lists(&[&[1, 2, 3], &[5, 8], &[13]]), col("x").firstx(2))), [vec![1.0, 2.0], vec![5.0, 8.0], vec![13.0]]);
    assert_eq!(values(&of(lists(&[&[1, 2, 3], &[]]), col("x").length())), [3.0, 0.0]);
    let sliced = table(vec![("x", lists(&[&[1, 2, 3], &[5, 8], &[13]]))]).slice(1, 3);
    assert_eq!(nested(&col("x").firstx(1).clamp(0.0, 6.0).evaluate(&sliced).unwrap()), [vec![5.0], vec![6.0]]);
    let hot = table(vec![("x", of(ints(&[2, 0]), col("x").one_hot(3)))]);
    assert_eq!(hot.array("x").unwrap().values(), &Values::F32(vec![0.0, 0.0, 1.0, 1.0, 0.0, 0.0]));
    assert_eq!(hot.array("x").unwrap().shape(), [2, 3]);
    assert!(error(ints(&[2, 3]), col("x").one_hot(3)).contains("column `x`, row 1 (counted from 0): one_hot: is the class 3 of 3"));
}

#[test]
fn text_and_dates() {
    let x = || texts(&[Some(" The Cat's here, café "), None, Some("")]);
    assert_eq!(strings(&of(x(), col("x").strip().lower())), [Some("the cat's here, café"), None, Some("")]);
    assert_eq!(strings(&of(x(), col("x").upper()))[0], Some(" THE CAT'S HERE, CAFÉ "));
    let words = of(x(), col("x").tokenize());
    assert_eq!(
        strings(&words.as_list::<i32>().value(0)).into_iter().flatten().collect::<Vec<_>>(),
        ["The", "Cat", "'", "s", "here", ",", "café"]
    );
    assert!(words.is_null(1) && words.as_list::<i32>().value(2).is_empty());
    assert_eq!(strings(&of(texts(&[Some("a,,b")]), col("x").split(",")).as_list::<i32>().value(0)), [Some("a"), Some(""), Some("b")]);
    assert_eq!(of(texts(&[Some(" a  b ")]), col("x").split("").length()).as_primitive::<Int32Type>().value(0), 2);
    let places = of(texts(&[Some("b a z")]), col("x").split(" ").lookup_indices(["a", "b"], -1));
    assert_eq!(nested(&places), [vec![1.0, 0.0, -1.0]]);
    assert!(error(x(), col("x").lookup_indices(["a", "a"], -1)).contains("\"a\" is in the vocabulary twice"));
    // 2024-02-29 was a Thursday, in week 9.
    let day = || -> ArrayRef { Arc::new(Date32Array::from(vec![19782])) };
    let part = |x: ArrayRef, part| of(x, col("x").date_part(part)).as_primitive::<Int32Type>().value(0);
    use DatePart::*;
    assert_eq!([Year, Quarter, Month, Week, Day, Weekday, DayOfYear].map(|p| part(day(), p)), [2024, 1, 2, 9, 29, 3, 60]);
    let time = || texts(&[Some("2024-02-29T13:07:59")]);
    assert_eq!([Day, Hour, Minute, Second].map(|p| part(time(), p)), [29, 13, 7, 59]);
    let bad = texts(&[Some("2024-01-01"), Some("2024-13-01")]);
    let e = error(bad, col("x").date_part(Year));
    assert!(e.starts_with("t: column `x`, row 1 (counted from 0): date_part: \"2024-13-01\" cannot become Timestamp"), "{e}");
    assert_eq!(values(&of(texts(&[Some("1.5")]), col("x").cast(DataType::Float32))), [1.5]);
    assert!(
        error(texts(&[None, Some("x")]), col("x").cast(DataType::Float32))
            .contains("row 1 (counted from 0): cast: \"x\" cannot become Float32")
    );
}

#[test]
fn a_transform_is_data() {
    let transform = Transform::new()
        .with("age", col("age").fill_null(40.0).clamp(0.0, 90.0))
        .with("old", col("age").ge(60.0).or(col("age").eq(40.0)))
        .with("city", col("city").lower().lookup_indices(["bern"], 9))
        .keep(&["old", "city", "age"]);
    let saved = serde_json::to_string(&transform).unwrap();
    let back: Transform = serde_json::from_str(&saved).unwrap();
    assert_eq!(back, transform, "{saved}");
    let rows = table(vec![
        ("age", Arc::new(Float64Array::from(vec![Some(120.0), None, Some(3.0)]))),
        ("city", texts(&[Some("Bern"), Some("Basel"), None])),
    ]);
    let made = back.apply(&rows).unwrap();
    assert_eq!(made.names(), ["old", "city", "age"]);
    assert_eq!(made.array("age").unwrap().to_f32(), [90.0, 40.0, 3.0]);
    assert_eq!(made.array("old").unwrap().to_i32().unwrap(), [1, 1, 0]);
    let e = made.array("city").unwrap_err().to_string();
    assert!(e.contains("column `city`, row 2 (counted from 0): is null or missing"), "{e}");
    assert_eq!(col("a").log().clamp(0.0, 1.0).to_string(), "clamp(log(a))");
}

#[test]
fn joins_with_a_small_table() {
    let cities = table(vec![("id", ints(&[1, 2])), ("zone", texts(&[Some("n"), Some("s")])), ("height", floats(&[540.0, 260.0]))]);
    let lookup = || Lookup::new(cities.clone(), &["id"]).unwrap();
    let left = table(vec![("city", Arc::new(Int32Array::from(vec![Some(2), Some(7), None, Some(1)]))), ("n", ints(&[0, 1, 2, 3]))]);
    let all = lookup().join(&left, &["city"], Join::Left).unwrap();
    assert_eq!(all.names(), ["city", "n", "zone", "height"]);
    assert_eq!(strings(all.column("zone").unwrap()), [Some("s"), None, None, Some("n")]);
    let mut found = pipe::items(vec![left.clone()]).join(lookup(), &["city"], Join::Inner);
    let found = aludel_data::Pipe::next(&mut found).unwrap().unwrap();
    assert_eq!((found.array("n").unwrap().to_i32().unwrap(), found.array("height").unwrap().to_f32()), (vec![0, 3], vec![260.0, 540.0]));
    assert_eq!(found.place(1), Some(("t", 3)));
    let twice = table(vec![("id", ints(&[1, 2, 1]))]);
    let e = Lookup::new(twice, &["id"]).err().unwrap().to_string();
    assert!(e.contains("column `id`, row 2 (counted from 0): has the same key as row 0"), "{e}");
    let clash = table(vec![("city", ints(&[1])), ("zone", ints(&[1]))]);
    assert!(lookup().join(&clash, &["city"], Join::Left).unwrap_err().to_string().contains("column `zone`: is in both tables"));
    let text = table(vec![("city", texts(&[Some("1"), Some("x")]))]);
    let e = lookup().join(&text, &["city"], Join::Left).unwrap_err().to_string();
    assert!(e.contains("column `city`, row 1 (counted from 0): \"x\" cannot become Int64"), "{e}");
}

#[test]
fn statistics_of_groups() {
    let rows = |g: &[Option<&str>], x: &[Option<f64>]| table(vec![("g", texts(g)), ("x", Arc::new(Float64Array::from(x.to_vec())))]);
    let train = vec![
        rows(&[Some("a"), Some("b"), Some("a")], &[Some(1.0), Some(10.0), Some(3.0)]),
        rows(&[Some("b"), None, Some("c")], &[Some(14.0), Some(5.0), None]),
    ];
    let fitted = Statistics::fit(&mut pipe::items(train.clone()), &["g"], &["x"]).unwrap();
    let a = fitted.of(&["a"], "x").unwrap();
    assert_eq!((a.count, a.mean, a.std(), a.min, a.max), (2, 2.0, 1.0, 1.0, 3.0));
    assert_eq!((fitted.overall[0].count, fitted.overall[0].mean), (5, 6.6));
    let back: Statistics = serde_json::from_str(&serde_json::to_string(&fitted).unwrap()).unwrap();
    assert_eq!(back, fitted);
    // Of `b` mean 12 and deviation 2; of a group that was not there all rows' mean, 6.6, and deviation, the root of 22.64.
    let test = rows(&[Some("b"), Some("z"), Some("a")], &[Some(8.0), Some(6.6), None]);
    let scaled = back.standardize(&test).unwrap();
    assert_eq!(scaled.slice(0, 2).array("x").unwrap().to_f32(), [-2.0, 0.0]);
    assert!(scaled.column("x").unwrap().is_null(2));
    assert!((fitted.overall[0].std() - 22.64f64.sqrt()).abs() < 1e-12);
    // As features: a table to join.
    let lookup = Lookup::new(fitted.table().unwrap(), &["g"]).unwrap();
    let joined = lookup.join(&test, &["g"], Join::Left).unwrap();
    assert_eq!(joined.names()[2..], ["x_count", "x_mean", "x_std", "x_min", "x_max"]);
    assert_eq!(joined.slice(0, 1).array("x_mean").unwrap().to_f32(), [12.0]);
    assert!(joined.column("x_mean").unwrap().is_null(1));
    let one = Statistics::fit(&mut pipe::items(train), &[], &["x"]).unwrap();
    assert_eq!(one.of(&[], "x"), Some(fitted.overall[0]));
    assert_eq!(one.standardize(&rows(&[None], &[Some(6.6)])).unwrap().array("x").unwrap().to_f32(), [0.0]);
    let e = Statistics::fit(&mut pipe::items(vec![test]), &[], &["g"]).unwrap_err().to_string();
    assert!(e.contains("column `g`: is Utf8, not numbers"), "{e}");
}
