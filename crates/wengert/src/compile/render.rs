//! Diagnostics as text, with the source lines they speak of.

use crate::compile::source::{Around, Source};
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use std::ops::Range;
use wengert_core::check::{Finding, FindingKind};
use wengert_core::span::{Diagnostic, Span};

/// `file:line:column: message`, and how many more there are.
pub(crate) fn short(source: &Source, diagnostics: &[Diagnostic]) -> String {
    let Some(first) = diagnostics.first() else { return source.name().to_string() };
    let place = match place(source, first) {
        Some((name, line, column)) => format!("{name}:{line}:{column}"),
        None => source.name().to_string(),
    };
    match diagnostics.len() - 1 {
        0 => format!("{place}: {first}"),
        1 => format!("{place}: {first} (and one more error)"),
        more => format!("{place}: {first} (and {more} more errors)"),
    }
}

/// The file, and in it one-based line and column, of what a diagnostic is about.
pub(crate) fn place<'s>(
    source: &'s Source,
    diagnostic: &Diagnostic,
) -> Option<(&'s str, usize, usize)> {
    places(diagnostic).next().map(|(span, _)| position(source, *span))
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
        // A snippet for each part of the text that is spoken of, in that order.
        let mut snippets: Vec<(Around<'_>, Vec<_>)> = Vec::new();
        for (k, (span, text)) in places(diagnostic).enumerate() {
            let around = source.around(span.start as usize);
            let kind = if k == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
            let shown = first_line(source.text(), *span);
            let start = around.range.start;
            let annotation = kind.span(shown.start - start..shown.end - start).label(text.as_str());
            match snippets.iter_mut().find(|(part, _)| part.range == around.range) {
                Some((_, annotations)) => annotations.push(annotation),
                None => snippets.push((around, vec![annotation])),
            }
        }
        title.elements(snippets.into_iter().map(|(part, annotations)| {
            let snippet = Snippet::source(&source.text()[part.range]).path(part.name);
            snippet.line_start(part.line).annotations(annotations)
        }))
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

/// The file, and in it one-based line and column, the column in characters.
fn position(source: &Source, span: Span) -> (&str, usize, usize) {
    let text = source.text();
    let start = floor_char(text, span.start as usize);
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let column = text[line_start..start].chars().count() + 1;
    (source.around(start).name, source.line(span), column)
}

fn floor_char(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at)
}
