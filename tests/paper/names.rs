//! What has a name is found by it, and printed as it.

use core::fmt::{Debug, Display};
use core::str::FromStr;

use wharf::caps::{Backend, Feature, Limit};
use wharf::dtype::Class;
use wharf::op::{Kind, Op};
use wharf::plan::How;
use wharf::tensor::Blocks;
use wharf::tune::{Problem, RowsSize};
use wharf::{DType, Error, ErrorKind};

/// Each comes back from its name, and no other name does, whose error has them all.
fn comes_back<T>(all: &[T], what: &str)
where
    T: FromStr<Err = Error> + Display + Debug + PartialEq,
{
    for one in all {
        assert_eq!(one.to_string().parse::<T>().as_ref().ok(), Some(one), "{what}");
    }
    let error = "nothing".parse::<T>().expect_err("it is the name of nothing");
    assert_eq!(error.to_string(), format!("no {what} is called \"nothing\""));
    assert_eq!(error.kind(), ErrorKind::Argument, "{error:?}");
    let help = error.help().unwrap_or_default();
    assert!(all.iter().all(|one| help.contains(&one.to_string())), "{help}");
}

#[test]
fn what_has_a_name_comes_back_from_it() {
    comes_back(DType::ALL, "dtype");
    comes_back(Blocks::ALL, "form of blocks");
    comes_back(Op::ALL, "operation");
    assert_eq!("maximum".parse::<Op>().ok(), Some(Op::Max), "by its method, too");
}

#[test]
fn what_has_a_name_is_printed_as_it() {
    assert_eq!(format!("[{:>6}]", Kind::F32), "[   f32]");
    assert_eq!(format!("[{:<6}]", Class::Bool), "[bool  ]");
    assert_eq!(How::Packed.to_string(), How::Packed.name());
    for limit in Limit::ALL {
        assert_eq!(limit.to_string(), limit.name());
    }
    for feature in Feature::ALL {
        assert_eq!(feature.to_string(), feature.name());
    }
    assert_eq!(Backend::Vulkan.to_string(), "vulkan");
}

#[test]
fn a_problem_comes_back_from_its_text() {
    let problem = Problem::from(RowsSize::norm(4096, 1024));
    assert_eq!(problem.text(), "norm 4096 1024");
    assert_eq!(Problem::from_text(&problem.text()).ok(), Some(problem));
    let error = Problem::from_text("norm of everything").expect_err("it has no numbers");
    assert_eq!(error.to_string(), "\"norm of everything\" is no problem to tune for");
    assert!(error.help().is_some_and(|help| help.contains("product f32")), "{error:?}");
}
