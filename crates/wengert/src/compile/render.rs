//! Diagnostics as text, with the source lines they speak of.

use crate::compile::source::Source;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use std::ops::Range;
use wengert_core::check::{Finding, FindingKind};
use wengert_core::span::{Diagnostic, Span};

/// `file:line:column: message`, and how many more there are.
pub(crate) fn short(source: &Source, diagnostics: &[Diagnostic]) -> String {
    let Some(first) = diagnostics.first() else { return source.name().to_string() };
    let place = match places(first).next() {
        Some((span, _)) => {
            let (line, column) = position(source.text(), *span);
            format!("{}:{line}:{column}", source.name())
        }
        None => source.name().to_string(),
    };
    match diagnostics.len() - 1 {
        0 => format!("{place}: {first}"),
        1 => format!("{place}: {first} (and one more error)"),
        more => format!("{place}: {first} (and {more} more errors)"),
    }
}

/// Every diagnostic with its source lines, labels and way out.
pub(crate) fn full(source: &Source, diagnostics: &[Diagnostic], coloured: bool) -> String {
    let renderer = if coloured { Renderer::styled() } else { Renderer::plain() };
    let reports: Vec<String> =
        diagnostics.iter().map(|diagnostic| one(source, diagnostic, &renderer)).collect();
    reports.join("\n\n")
}

/// Every finding with its source lines: a NaN as an error, the others as warnings.
pub(crate) fn findings(source: &Source, findings: &[Finding], coloured: bool) -> String {
    let renderer = if coloured { Renderer::styled() } else { Renderer::plain() };
    let report = |finding: &Finding| {
        let mut diagnostic = Diagnostic::new("", finding.to_string()).label(finding.span, "here");
        for (span, iteration) in &finding.iterations {
            let nearest = matches!(finding.kind, FindingKind::Stopping { .. });
            let what = if nearest { "nearest" } else { "first" };
            let text = format!("{what} in iteration {iteration} of this loop");
            diagnostic = diagnostic.label(*span, text);
        }
        let level = if finding.is_failure() { Level::ERROR } else { Level::WARNING };
        at_level(source, &diagnostic, level, &renderer)
    };
    findings.iter().map(report).collect::<Vec<_>>().join("\n\n")
}

fn one(source: &Source, diagnostic: &Diagnostic, renderer: &Renderer) -> String {
    at_level(source, diagnostic, Level::ERROR, renderer)
}

fn at_level(
    source: &Source,
    diagnostic: &Diagnostic,
    level: Level<'_>,
    renderer: &Renderer,
) -> String {
    let title = level.primary_title(diagnostic.message.as_str());
    let title = if diagnostic.code.is_empty() { title } else { title.id(diagnostic.code) };
    let mut group = if places(diagnostic).next().is_none() {
        title.element(Origin::path(source.name()))
    } else {
        let kinds = std::iter::once(AnnotationKind::Primary)
            .chain(std::iter::repeat(AnnotationKind::Context));
        let annotations = places(diagnostic).zip(kinds).map(|((span, text), kind)| {
            kind.span(first_line(source.text(), *span)).label(text.as_str())
        });
        let snippet = Snippet::source(source.text()).path(source.name()).annotations(annotations);
        title.element(snippet)
    };
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    renderer.render(&[group] as &[Group<'_>])
}

/// The labels that stand somewhere: what no instruction of the user's caused has an empty span.
fn places(diagnostic: &Diagnostic) -> impl Iterator<Item = &(Span, String)> {
    diagnostic.labels.iter().filter(|(span, _)| *span != Span::default())
}

/// The part of a span on its first line: a loop is shown by its head, not by its body.
fn first_line(text: &str, span: Span) -> Range<usize> {
    let start = floor_char(text, span.start as usize);
    let end = floor_char(text, span.end as usize).max(start);
    let line = &text[start..end];
    let shown = line.find('\n').map_or(line, |at| &line[..at]).trim_end();
    start..start + shown.len()
}

/// One-based line and column, the column in characters.
fn position(text: &str, span: Span) -> (usize, usize) {
    let start = floor_char(text, span.start as usize);
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    (span.line(text), text[line_start..start].chars().count() + 1)
}

fn floor_char(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at)
}
