//! Functions without a body, outlined loops and rules: the lines beside functions.

use super::super::external::External;
use super::super::func::{LoopPlan, Rule, Unstep};
use super::super::lex::Token;
use super::{Parsed, Parser};

impl Parser {
    fn count(&mut self) -> Parsed<usize> {
        match self.peek() {
            Token::Int(n) if *n >= 0 => {
                let n = *n as usize;
                self.next();
                Ok(n)
            }
            _ => Err(self.expected("a number")),
        }
    }

    pub(super) fn plan(&mut self) -> Parsed<LoopPlan> {
        self.word("loop")?;
        let name = self.symbol()?;
        let parallel = self.is_word("parallel");
        if parallel {
            self.next();
        }
        let bounded = parallel || self.is_word("for");
        self.word(if bounded { "for" } else { "while" })?;
        self.word("carries")?;
        let carries = self.count()?;
        self.word("state")?;
        let state = self.count()?;
        self.word("finals")?;
        let finals = self.counts()?;
        self.word("advance")?;
        let advance = self.symbol()?;
        self.word("record")?;
        let record = self.symbol()?;
        self.word("reverse")?;
        let reverse = self.symbol()?;
        let mut unstep = None;
        if self.is_word("unstep") {
            self.next();
            let func = self.symbol()?;
            self.word("free")?;
            let free = self.counts()?;
            let apart = self.is_word("apart");
            if apart {
                self.next();
            }
            unstep = Some(Unstep { func, free, apart });
        }
        Ok(LoopPlan {
            name,
            advance,
            record,
            reverse,
            carries,
            state,
            finals,
            bounded,
            parallel,
            unstep,
        })
    }

    /// `(0, 2)`
    fn counts(&mut self) -> Parsed<Vec<usize>> {
        self.mark("(")?;
        let mut counts = Vec::new();
        while !self.accept(")") {
            if !counts.is_empty() {
                self.mark(",")?;
            }
            counts.push(self.count()?);
        }
        Ok(counts)
    }

    /// `extern @f(f64, [f64]) -> (f64) jvp vjp`; one of the modes may be missing, or both.
    pub(super) fn external(&mut self) -> Parsed<External> {
        self.word("extern")?;
        let name = self.symbol()?;
        let params = self.type_list()?;
        self.mark("->")?;
        let results = self.type_list()?;
        let (mut jvp, mut vjp) = (false, false);
        loop {
            let mode = match self.peek() {
                Token::Word(w) if w == "jvp" && !jvp => &mut jvp,
                Token::Word(w) if w == "vjp" && !vjp => &mut vjp,
                _ => return Ok(External { name, params, results, jvp, vjp }),
            };
            *mode = true;
            self.next();
        }
    }

    /// `rule @f jvp @g vjp @h`; one of the two may be missing.
    pub(super) fn rule(&mut self) -> Parsed<Rule> {
        self.word("rule")?;
        let func = self.symbol()?;
        let (mut jvp, mut vjp) = (None, None);
        loop {
            let (mode, by) = match self.peek() {
                Token::Word(w) if w == "jvp" => ("jvp", &mut jvp),
                Token::Word(w) if w == "vjp" => ("vjp", &mut vjp),
                _ => break,
            };
            if by.is_some() {
                let message = format!("the rule of `@{func}` has two functions for `{mode}`");
                return Err(self.error(self.span(), message));
            }
            self.next();
            *by = Some(self.symbol()?);
        }
        if jvp.is_none() && vjp.is_none() {
            return Err(self.expected("`jvp @g` or `vjp @h`"));
        }
        Ok(Rule { func, jvp, vjp })
    }
}
