//! Which mistakes a line of Rust can have, and how each is written beside what was there.
//!
//! Nothing is planted where the compiler computes (`const`, types, patterns), in what only tests
//! have, in macros, and in how things print themselves.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, ReturnType, Stmt, Type, UnOp};

use crate::tree::Source;

/// A mistake: where it is, the rule that made it, and what changes.
#[derive(Debug)]
pub struct Mistake {
    pub path: String,
    pub line: usize,
    pub rule: &'static str,
    pub was: String,
    pub now: String,
    /// The function that it is in, by its number.
    pub function: usize,
}

/// All mistakes, and the edits of each file that plant them. A mistake is known by its number.
#[derive(Debug)]
pub struct Field {
    pub mistakes: Vec<Mistake>,
    /// Those that are no mistakes to the compiler, which refuses them.
    pub refused: BTreeSet<usize>,
    edits: Vec<Vec<Edit>>,
}

/// What stands in a range of a file instead of what was there, which goes on to stand inside.
#[derive(Debug)]
struct Edit {
    range: Range<usize>,
    kind: Kind,
}

/// Of those in the same range the first is outermost.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// Nothing is computed: a result is given at once.
    Given(usize, String),
    /// A statement is left out.
    Left(usize),
    /// A condition does not hold.
    Failed { number: usize, chained: bool },
    /// An expression is another.
    Other(usize, String),
}

const ON: &str = "crate::planted::on";

impl Kind {
    const fn number(&self) -> usize {
        match self {
            Self::Given(number, _) | Self::Left(number) | Self::Other(number, _) => *number,
            Self::Failed { number, .. } => *number,
        }
    }

    fn around(&self, inner: &str) -> String {
        match self {
            Self::Given(number, result) => format!(" if {ON}({number}) {{ return {result}; }} "),
            Self::Left(number) => format!("if {ON}({number}) {{}} else {{ {inner} }}"),
            Self::Failed { number, chained: true } => format!("!{ON}({number}) && {inner}"),
            Self::Failed { number, .. } => format!("!{ON}({number}) && ({inner})"),
            Self::Other(number, other) => {
                format!("(if {ON}({number}) {{ {other} }} else {{ {inner} }})")
            }
        }
    }
}

impl Field {
    /// All that these files can have.
    pub fn of(files: &[Source]) -> syn::Result<Self> {
        let mut field = Self { mistakes: Vec::new(), refused: BTreeSet::new(), edits: Vec::new() };
        let mut function = 0;
        for source in files {
            let mut finder = Finder { source, field: &mut field, edits: Vec::new(), function };
            finder.visit_file(&syn::parse_file(&source.text)?);
            function = finder.function;
            let mut edits = finder.edits;
            edits.sort_by(|a, b| {
                let place = |edit: &Edit| (edit.range.start, usize::MAX - edit.range.end);
                place(a).cmp(&place(b)).then_with(|| a.kind.cmp(&b.kind))
            });
            field.edits.push(edits);
        }
        Ok(field)
    }

    /// A file with its mistakes.
    pub fn planted(&self, file: usize, text: &str) -> String {
        let kept = |edit: &&Edit| !self.refused.contains(&edit.kind.number());
        let edits: Vec<&Edit> = self.edits[file].iter().filter(kept).collect();
        written(text, &mut &edits[..], 0..text.len())
    }

    /// The mistakes as they are known from run to run: the nth that reads like this in its file.
    pub fn names(&self) -> Vec<String> {
        let mut nth = HashMap::<String, usize>::new();
        let name = |mistake: &Mistake| {
            let Mistake { path, rule, was, now, .. } = mistake;
            let name = format!("{path} | {rule} | {was} -> {now}");
            let n = nth.entry(name.clone()).or_default();
            *n += 1;
            format!("{name} | {n}")
        };
        self.mistakes.iter().map(name).collect()
    }

    /// The numbers of a file's mistakes.
    pub fn numbers(&self, file: usize) -> impl Iterator<Item = usize> {
        self.edits[file].iter().map(|edit| edit.kind.number())
    }
}

/// A range of a file, with the edits that lie in it; the others are left.
fn written(text: &str, edits: &mut &[&Edit], range: Range<usize>) -> String {
    let (mut out, mut at) = (String::new(), range.start);
    while let Some((edit, rest)) = edits.split_first()
        && edit.range.end <= range.end
    {
        *edits = rest;
        out += &text[at..edit.range.start];
        let inner = match edit.range.is_empty() {
            true => String::new(),
            false => written(text, edits, edit.range.clone()),
        };
        out += &edit.kind.around(&inner);
        at = edit.range.end;
    }
    out + &text[at..range.end]
}

struct Finder<'a> {
    source: &'a Source,
    field: &'a mut Field,
    edits: Vec<Edit>,
    /// The functions seen so far.
    function: usize,
}

/// Comparisons, and what somebody could have meant.
fn mistaken(op: &BinOp) -> Option<(&'static str, &'static str)> {
    Some(match op {
        BinOp::Lt(_) => ("comparison", "<="),
        BinOp::Le(_) => ("comparison", "<"),
        BinOp::Gt(_) => ("comparison", ">="),
        BinOp::Ge(_) => ("comparison", ">"),
        BinOp::Eq(_) => ("comparison", "!="),
        BinOp::Ne(_) => ("comparison", "=="),
        BinOp::Add(_) => ("arithmetic", "-"),
        BinOp::Sub(_) | BinOp::Mul(_) => ("arithmetic", "+"),
        BinOp::Div(_) | BinOp::Rem(_) => ("arithmetic", "*"),
        BinOp::Shl(_) => ("arithmetic", ">>"),
        BinOp::Shr(_) => ("arithmetic", "<<"),
        BinOp::BitAnd(_) => ("arithmetic", "|"),
        BinOp::BitOr(_) | BinOp::BitXor(_) => ("arithmetic", "&"),
        BinOp::AddAssign(_) => ("arithmetic", "-="),
        BinOp::SubAssign(_) | BinOp::MulAssign(_) => ("arithmetic", "+="),
        BinOp::BitOrAssign(_) => ("arithmetic", "&="),
        BinOp::And(_) => ("logic", "||"),
        BinOp::Or(_) => ("logic", "&&"),
        _ => return None,
    })
}

/// Methods, and those that somebody could have meant.
const METHODS: &[(&str, &str)] = &[
    ("min", "max"),
    ("max", "min"),
    ("any", "all"),
    ("all", "any"),
    ("first", "last"),
    ("last", "first"),
    ("is_some", "is_none"),
    ("is_none", "is_some"),
    ("is_ok", "is_err"),
    ("is_err", "is_ok"),
    ("is_some_and", "is_none_or"),
    ("is_none_or", "is_some_and"),
    ("saturating_sub", "wrapping_sub"),
    ("saturating_mul", "wrapping_mul"),
    ("saturating_add", "wrapping_add"),
    ("checked_mul", "checked_add"),
    ("checked_add", "checked_sub"),
    ("checked_sub", "checked_add"),
    ("div_ceil", "div_euclid"),
    ("split_first", "split_last"),
    ("split_last", "split_first"),
    ("rev", "into_iter"),
    ("skip", "take"),
    ("take_while", "skip_while"),
    ("sum", "product"),
    ("product", "sum"),
    ("starts_with", "ends_with"),
    ("ends_with", "starts_with"),
];

/// Results that come at once.
fn results(of: &ReturnType) -> &'static [&'static str] {
    let ReturnType::Type(_, of) = of else { return &["()"] };
    let Type::Path(of) = &**of else { return &[] };
    let Some(last) = of.path.segments.last() else { return &[] };
    let is_nothing = |inside: &syn::PathArguments| match inside {
        syn::PathArguments::AngleBracketed(list) => match list.args.first() {
            Some(syn::GenericArgument::Type(Type::Tuple(tuple))) => tuple.elems.is_empty(),
            _ => false,
        },
        _ => false,
    };
    match &*last.ident.to_string() {
        "bool" => &["true", "false"],
        "usize" | "u8" | "u16" | "u32" | "u64" | "u128" | "i32" | "i64" => &["0", "1"],
        "Option" => &["None"],
        "Vec" => &["Vec::new()"],
        "String" => &["String::new()"],
        "Result" | "Outcome" if is_nothing(&last.arguments) => &["Ok(())"],
        _ => &[],
    }
}

/// What only tests have, or another platform.
fn is_elsewhere(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let text = match &attribute.meta {
            syn::Meta::List(list) => list.tokens.to_string(),
            _ => String::new(),
        };
        attribute.path().is_ident("test")
            || (attribute.path().is_ident("cfg")
                && (text == "test" || (text.contains("wasm") && !text.starts_with("not"))))
    })
}

/// Whether a condition also names what it finds.
fn names(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(both) => names(&both.left) || names(&both.right),
        _ => false,
    }
}

impl Finder<'_> {
    fn text(&self, of: &impl Spanned) -> &str {
        &self.source.text[of.span().byte_range()]
    }

    /// Numbers a mistake in a range of the file, which becomes `now`.
    fn number(&mut self, rule: &'static str, range: &Range<usize>, now: &str) -> usize {
        let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = &self.source.text;
        self.field.mistakes.push(Mistake {
            path: self.source.path.clone(),
            line: text[..range.start].matches('\n').count() + 1,
            rule,
            was: line(&text[range.clone()]),
            now: line(now),
            function: self.function,
        });
        self.field.mistakes.len() - 1
    }

    /// An expression that is another.
    fn other(&mut self, rule: &'static str, expr: &impl Spanned, now: String) {
        let range = expr.span().byte_range();
        let number = self.number(rule, &range, &now);
        self.edits.push(Edit { range, kind: Kind::Other(number, now) });
    }

    /// An expression in which one token is another.
    fn exchanged(
        &mut self,
        rule: &'static str,
        expr: &impl Spanned,
        token: &impl Spanned,
        now: &str,
    ) {
        let (whole, part) = (expr.span().byte_range(), token.span().byte_range());
        let text = &self.source.text;
        let now = format!("{}{now}{}", &text[whole.start..part.start], &text[part.end..whole.end]);
        self.other(rule, expr, now);
    }

    fn function(
        &mut self,
        attributes: &[syn::Attribute],
        sig: &syn::Signature,
        block: &syn::Block,
    ) {
        if sig.constness.is_some() || is_elsewhere(attributes) {
            return;
        }
        self.function += 1;
        let at = block.brace_token.span.open().byte_range().end;
        let whole = block.span().byte_range();
        if whole.len() > 4 && !block.stmts.is_empty() {
            for result in results(&sig.output) {
                let number = self.number("result", &(at..at), &format!("return {result}"));
                self.field.mistakes[number].was = sig.ident.to_string();
                self.edits
                    .push(Edit { range: at..at, kind: Kind::Given(number, (*result).into()) });
            }
        }
        self.visit_block(block);
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_fn(&mut self, it: &'ast syn::ItemFn) {
        self.function(&it.attrs, &it.sig, &it.block);
    }

    fn visit_impl_item_fn(&mut self, it: &'ast syn::ImplItemFn) {
        self.function(&it.attrs, &it.sig, &it.block);
    }

    fn visit_trait_item_fn(&mut self, it: &'ast syn::TraitItemFn) {
        if let Some(block) = &it.default {
            self.function(&it.attrs, &it.sig, block);
        }
    }

    fn visit_item_mod(&mut self, it: &'ast syn::ItemMod) {
        if !is_elsewhere(&it.attrs) {
            visit::visit_item_mod(self, it);
        }
    }

    fn visit_item_impl(&mut self, it: &'ast syn::ItemImpl) {
        let of = it.trait_.as_ref().and_then(|(_, path, _)| path.segments.last());
        if !is_elsewhere(&it.attrs) && of.is_none_or(|of| of.ident != "Debug") {
            visit::visit_item_impl(self, it);
        }
    }

    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_item_enum(&mut self, _: &'ast syn::ItemEnum) {}
    fn visit_type(&mut self, _: &'ast Type) {}
    fn visit_generics(&mut self, _: &'ast syn::Generics) {}
    fn visit_generic_argument(&mut self, _: &'ast syn::GenericArgument) {}
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}

    fn visit_expr_repeat(&mut self, it: &'ast syn::ExprRepeat) {
        self.visit_expr(&it.expr);
    }

    fn visit_stmt(&mut self, it: &'ast Stmt) {
        let is_left = match it {
            Stmt::Expr(expr, Some(_)) => matches!(
                expr,
                Expr::MethodCall(_)
                    | Expr::Call(_)
                    | Expr::Try(_)
                    | Expr::Assign(_)
                    | Expr::Binary(_)
            ),
            _ => false,
        };
        if is_left {
            let range = it.span().byte_range();
            let number = self.number("statement", &range, "");
            self.edits.push(Edit { range, kind: Kind::Left(number) });
        }
        visit::visit_stmt(self, it);
    }

    fn visit_expr_if(&mut self, it: &'ast syn::ExprIf) {
        let range = it.cond.span().byte_range();
        let number = self.number("condition", &range, "false");
        let chained = names(&it.cond);
        self.edits.push(Edit { range, kind: Kind::Failed { number, chained } });
        visit::visit_expr_if(self, it);
    }

    fn visit_expr_binary(&mut self, it: &'ast syn::ExprBinary) {
        if let Some((rule, now)) = mistaken(&it.op)
            && !names(&it.left)
            && !names(&it.right)
        {
            self.exchanged(rule, it, &it.op, now);
        }
        visit::visit_expr_binary(self, it);
    }

    fn visit_expr_unary(&mut self, it: &'ast syn::ExprUnary) {
        if matches!(it.op, UnOp::Not(_) | UnOp::Neg(_)) && !matches!(*it.expr, Expr::Lit(_)) {
            let now = self.text(&it.expr).to_owned();
            self.other("sign", it, now);
        }
        visit::visit_expr_unary(self, it);
    }

    fn visit_expr_method_call(&mut self, it: &'ast syn::ExprMethodCall) {
        let name = it.method.to_string();
        if let Some((_, now)) = METHODS.iter().find(|(was, _)| *was == name) {
            self.exchanged("method", it, &it.method, now);
        }
        visit::visit_expr_method_call(self, it);
    }

    fn visit_expr_lit(&mut self, it: &'ast syn::ExprLit) {
        if let syn::Lit::Int(number) = &it.lit
            && let Ok(value) = number.base10_parse::<u64>()
            && value > 1
            && value < u64::MAX
        {
            self.other("number", it, format!("{}{}", value + 1, number.suffix()));
        }
    }
}
