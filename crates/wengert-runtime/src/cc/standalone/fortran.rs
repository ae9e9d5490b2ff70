//! The functions of a library as Fortran calls them: a module of interfaces, nothing to be compiled in between.

use super::Library;
use super::interface::{self, Param, Role};
use super::names::Names;
use std::fmt::Write;
use wengert_core::ir::Elem;

/// What interfaces import.
const IMPORTED: [&str; 7] =
    ["c_double", "c_float", "c_int64_t", "c_bool", "c_int", "c_ptr", "wengert_array"];

/// The module.
pub(super) fn module(library: &Library) -> String {
    let name = fortran_name(&library.name);
    let mut out = format!(
        "! {}\n!\n\
         ! Compile {}.c with a C compiler, and link with -lm. Arrays are passed with their dimensions, and the last\n\
         ! axis of C is the first of Fortran: x(n, m) is an m by n array here. Functions return 0, or a status\n\
         ! that is explained in {}.h; {}_error gives a C string about it.\n\
         module {name}_c\n  \
         use, intrinsic :: iso_c_binding\n  \
         implicit none\n\n  \
         type, bind(c) :: wengert_array\n    \
         type(c_ptr) :: data\n    \
         integer(c_int64_t) :: rank\n    \
         integer(c_int64_t) :: shape(8)\n  \
         end type wengert_array\n\n  \
         interface\n",
        interface::title(library, "f90"),
        library.name,
        library.name,
        library.name
    );
    for function in &library.functions {
        let own = fortran_name(&function.name);
        let mut taken: Vec<&str> = IMPORTED.to_vec();
        let lower = own.to_lowercase();
        taken.push(&lower);
        taken.push("status");
        let mut names = Names::of_fortran(&taken);
        let params = interface::params(function, &mut names);
        let list: Vec<&str> = params.iter().map(|p| p.name.as_str()).collect();
        let list = match list.is_empty() {
            true => "()".to_string(),
            false => format!("( &\n        {} )", list.join(", &\n        ")),
        };
        let _ = write!(
            out,
            "    function {own}{list} &\n        bind(c, name=\"{}\") result(status)\n      import\n",
            function.name
        );
        params.iter().for_each(|p| _ = writeln!(out, "      {}", declared(p)));
        let _ = write!(out, "      integer(c_int) :: status\n    end function {own}\n\n");
    }
    let _ = write!(
        out,
        "    function {name}_error() bind(c, name=\"{0}_error\") result(text)\n      import\n      \
         type(c_ptr) :: text\n    end function {name}_error\n\n    \
         subroutine {name}_free(data) bind(c, name=\"{0}_free\")\n      import\n      \
         type(c_ptr), value :: data\n    end subroutine {name}_free\n  \
         end interface\nend module {name}_c\n",
        library.name
    );
    out
}

/// A name that begins with a letter and is not too long.
fn fortran_name(name: &str) -> String {
    name.trim_start_matches('_').chars().take(50).collect()
}

fn kind(elem: Elem) -> &'static str {
    match elem {
        Elem::F64 => "real(c_double)",
        Elem::F32 => "real(c_float)",
        Elem::I64 => "integer(c_int64_t)",
        Elem::Bool => "logical(c_bool)",
    }
}

fn declared(param: &Param) -> String {
    let name = &param.name;
    match param.role {
        Role::Number(elem) => format!("{}, value :: {name}", kind(elem)),
        Role::Elements(elem) => format!("{}, intent(in) :: {name}(*)", kind(elem)),
        Role::Dimension => format!("integer(c_int64_t), value :: {name}"),
        Role::Place(elem) => format!("{}, intent(out) :: {name}", kind(elem)),
        Role::Room(elem) => format!("{}, intent(out) :: {name}(*)", kind(elem)),
        Role::New => format!("type(wengert_array), intent(out) :: {name}"),
    }
}
