//! Every row of floats as a Rust function.
//!
//! Made from the table of rows and the programs of elementary functions by a test of `wengert-core`:
//! `BLESS=1 cargo test -p wengert-core --test rust_text` writes it again.

use crate::dispatch::parts;

/// The bits of a float, any NaN being the same NaN.
#[inline(always)]
fn bits(x: f64) -> i64 {
    if x.is_nan() { 0x7ff8_0000_0000_0000 } else { x.to_bits() as i64 }
}

/// The upper half of the product of two unsigned integers.
#[inline(always)]
fn umulh(a: i64, b: i64) -> i64 {
    ((a as u64 as u128 * b as u64 as u128) >> 64) as i64
}

/// Division rounding down.
#[inline(always)]
fn floor_div(a: i64, b: i64) -> i64 {
    assert!(b != 0, "integer division by zero");
    let q = a.checked_div(b).expect("an integer result does not fit 64 bits");
    if a % b != 0 && (a < 0) != (b < 0) { q - 1 } else { q }
}

/// The remainder of that division; it has the sign of the divisor.
#[inline(always)]
fn floor_mod(a: i64, b: i64) -> i64 {
    assert!(b != 0, "integer division by zero");
    let r = a.wrapping_rem(b);
    if r != 0 && (r < 0) != (b < 0) { r + b } else { r }
}

/// `add`: a + b (rounded once).
#[inline(always)]
pub fn add(a_0: f64, b_1: f64) -> f64 {
    let y_2 = a_0 + b_1;
    y_2
}

/// `sub`: a - b (rounded once).
#[inline(always)]
pub fn sub(a_0: f64, b_1: f64) -> f64 {
    let y_2 = a_0 - b_1;
    y_2
}

/// `mul`: a b (rounded once).
#[inline(always)]
pub fn mul(a_0: f64, b_1: f64) -> f64 {
    let y_2 = a_0 * b_1;
    y_2
}

/// `div`: a / b (rounded once).
#[inline(always)]
pub fn div(a_0: f64, b_1: f64) -> f64 {
    let y_2 = a_0 / b_1;
    y_2
}

/// `fma`: a b + c, rounded once.
#[inline(always)]
pub fn fma(a_0: f64, b_1: f64, c_2: f64) -> f64 {
    let y_3 = f64::mul_add(a_0, b_1, c_2);
    y_3
}

/// `neg`: -x (exact).
#[inline(always)]
pub fn neg(x_0: f64) -> f64 {
    let y_1 = -x_0;
    y_1
}

/// `abs`: the size of x, without its sign (exact).
#[inline(always)]
pub fn abs(x_0: f64) -> f64 {
    let y_1 = f64::abs(x_0);
    y_1
}

/// `min`: the lesser of a and b; b where one is NaN (exact).
#[inline(always)]
pub fn min(a_0: f64, b_1: f64) -> f64 {
    let y_2 = if a_0 < b_1 { a_0 } else { b_1 };
    y_2
}

/// `max`: the greater of a and b; b where one is NaN (exact).
#[inline(always)]
pub fn max(a_0: f64, b_1: f64) -> f64 {
    let y_2 = if b_1 < a_0 { a_0 } else { b_1 };
    y_2
}

/// `floor`: the largest integer not above x (exact).
#[inline(always)]
pub fn floor(x_0: f64) -> f64 {
    let y_1 = f64::floor(x_0);
    y_1
}

/// `round`: the nearest integer; of two, the even one (exact).
#[inline(always)]
pub fn round(x_0: f64) -> f64 {
    let y_1 = f64::round_ties_even(x_0);
    y_1
}

/// `flush`: x, but 0 where x is subnormal; keeps adjoints that fade away fast (exact).
#[inline(always)]
pub fn flush(x_0: f64) -> f64 {
    let y_1 = if f64::abs(x_0) < f64::MIN_POSITIVE { 0.0 } else { x_0 };
    y_1
}

/// `stop_gradient`: x; no derivative passes (exact).
#[inline(always)]
pub fn stop_gradient(x_0: f64) -> f64 {
    let y_1 = x_0;
    y_1
}

/// `ceil`: the least integer not below x (exact).
#[inline(always)]
pub fn ceil(x_0: f64) -> f64 {
    let y_1 = -x_0;
    let y_2 = f64::floor(y_1);
    let y_3 = -y_2;
    y_3
}

/// `trunc`: x without its fraction (exact).
#[inline(always)]
pub fn trunc(x_0: f64) -> f64 {
    let down_1 = f64::floor(x_0);
    let up_2 = -x_0;
    let up_3 = f64::floor(up_2);
    let up_4 = -up_3;
    let y_6 = x_0 < 0.0_f64;
    let y_7 = if y_6 { up_4 } else { down_1 };
    y_7
}

/// `sign`: -1 or 1 with the sign of x; zeros and NaN stay (exact).
#[inline(always)]
pub fn sign(x_0: f64) -> f64 {
    let s_1 = bits(x_0);
    let s_3 = s_1 & (0x8000000000000000_u64 as i64);
    let s_5 = s_3 | 0x3ff0000000000000_i64;
    let s_6 = f64::from_bits(s_5 as u64);
    let ax_7 = f64::abs(x_0);
    let y_9 = ax_7 > 0.0_f64;
    let y_10 = if y_9 { s_6 } else { x_0 };
    y_10
}

/// `copysign`: the size of a with the sign of b (exact).
#[inline(always)]
pub fn copysign(a_0: f64, b_1: f64) -> f64 {
    let y_2 = bits(a_0);
    let y_4 = y_2 & 0x7fffffffffffffff_i64;
    let y_5 = bits(b_1);
    let y_7 = y_5 & (0x8000000000000000_u64 as i64);
    let y_8 = y_4 | y_7;
    let y_9 = f64::from_bits(y_8 as u64);
    y_9
}

/// `relu`: x where it is positive, else 0 (exact).
#[inline(always)]
pub fn relu(x_0: f64) -> f64 {
    let y_2 = x_0 <= 0.0_f64;
    let y_3 = if y_2 { 0.0_f64 } else { x_0 };
    y_3
}

/// `clamp`: x moved into the range from lo to hi; hi where lo > hi (exact).
#[inline(always)]
pub fn clamp(x_0: f64, lo_1: f64, hi_2: f64) -> f64 {
    let t_3 = x_0 < lo_1;
    let t_4 = if t_3 { lo_1 } else { x_0 };
    let y_5 = hi_2 < t_4;
    let y_6 = if y_5 { hi_2 } else { t_4 };
    y_6
}

/// `rem`: the remainder of a / b with the quotient cut off: the sign of a (fmod of C) (exact).
#[inline(always)]
pub fn rem(a_0: f64, b_1: f64) -> f64 {
    let aa_2 = f64::abs(a_0);
    let ab_3 = f64::abs(b_1);
    let less_4 = aa_2 < ab_3;
    let r_23 = if less_4 {
        aa_2
    } else {
        let q_5 = aa_2 / ab_3;
        let small_7 = q_5 < 9007199254740992.0_f64;
        let r_22 = if small_7 {
            let n_8 = f64::floor(q_5);
            let r0_9 = -n_8;
            let r0_10 = f64::mul_add(r0_9, ab_3, aa_2);
            let neg_12 = r0_10 < 0.0_f64;
            let r_13 = r0_10 + ab_3;
            let r_14 = if neg_12 { r_13 } else { r0_10 };
            r_14
        } else {
            let fin_16 = aa_2 < f64::INFINITY;
            let fin_17 = ab_3 > 0.0_f64;
            let fin_18 = fin_16 & fin_17;
            let r_21 = if fin_18 {
                let r_19 = parts::rem_huge(a_0, b_1);
                r_19
            } else {
                f64::NAN
            };
            r_21
        };
        r_22
    };
    let y_24 = bits(r_23);
    let y_25 = bits(a_0);
    let y_27 = y_25 & (0x8000000000000000_u64 as i64);
    let y_28 = y_24 | y_27;
    let y_29 = f64::from_bits(y_28 as u64);
    y_29
}

/// `sqrt`: the square root (rounded once).
#[inline(always)]
pub fn sqrt(x_0: f64) -> f64 {
    let y_1 = f64::sqrt(x_0);
    y_1
}

/// `exp`: e to the power x (within 1 ulp).
#[inline(always)]
pub fn exp(x_0: f64) -> f64 {
    let kd_3 = f64::mul_add(x_0, 1.4426950408889634_f64, 6755399441055744.0_f64);
    let n_4 = kd_3 - 6755399441055744.0_f64;
    let ki_5 = bits(kd_3);
    let rh_7 = f64::mul_add(n_4, (-0.6931471805599453_f64), x_0);
    let r_9 = f64::mul_add(n_4, (-2.3190468138462996e-17_f64), rh_7);
    let r2_10 = r_9 * r_9;
    let p0_13 = f64::mul_add(r_9, 0.1666666666666642_f64, 0.5000000000000011_f64);
    let p1_16 = f64::mul_add(r_9, 0.008333333333490218_f64, 0.041666666666526596_f64);
    let p2_19 = f64::mul_add(r_9, 0.0001984126951649935_f64, 0.001388888894451334_f64);
    let p3_22 = f64::mul_add(r_9, 2.7557576800090774e-6_f64, 2.480149221124442e-5_f64);
    let p4_25 = f64::mul_add(r_9, 2.5003327706230185e-8_f64, 2.7630560280471973e-7_f64);
    let r4_26 = r2_10 * r2_10;
    let q0_27 = f64::mul_add(r2_10, p1_16, p0_13);
    let q1_28 = f64::mul_add(r2_10, p3_22, p2_19);
    let q2_29 = f64::mul_add(r4_26, p4_25, q1_28);
    let q_30 = f64::mul_add(r4_26, q2_29, q0_27);
    let head_32 = r_9 + 1.0_f64;
    let hr_33 = head_32 - 1.0_f64;
    let err_34 = r_9 - hr_33;
    let tail_35 = f64::mul_add(r2_10, q_30, err_34);
    let ax_36 = f64::abs(x_0);
    let plain_38 = ax_36 < 708.0_f64;
    let y_71 = if plain_38 {
        let sh_40 = i64::wrapping_shl(ki_5, 52);
        let sb_42 = i64::wrapping_add(sh_40, 0x3ff0000000000000_i64);
        let sc_43 = f64::from_bits(sb_42 as u64);
        let hs_44 = sc_43 * head_32;
        let yn_45 = f64::mul_add(sc_43, tail_35, hs_44);
        yn_45
    } else {
        let kl_47 = i64::wrapping_shl(ki_5, 32);
        let k_48 = i64::wrapping_shr(kl_47, 32);
        let ka_50 = i64::wrapping_shr(k_48, 1);
        let kb_51 = i64::wrapping_sub(k_48, ka_50);
        let sha_52 = i64::wrapping_shl(ka_50, 52);
        let shb_53 = i64::wrapping_shl(kb_51, 52);
        let sba_54 = i64::wrapping_add(sha_52, 0x3ff0000000000000_i64);
        let sbb_55 = i64::wrapping_add(shb_53, 0x3ff0000000000000_i64);
        let fa_56 = f64::from_bits(sba_54 as u64);
        let fb_57 = f64::from_bits(sbb_55 as u64);
        let v_58 = head_32 + tail_35;
        let va_59 = v_58 * fa_56;
        let vb_60 = va_59 * fb_57;
        let over_62 = x_0 > 709.782712893384_f64;
        let under_64 = x_0 < (-745.1332191019412_f64);
        let isnan_65 = x_0 != x_0;
        let y0_67 = if over_62 { f64::INFINITY } else { vb_60 };
        let y1_69 = if under_64 { 0.0_f64 } else { y0_67 };
        let y2_70 = if isnan_65 { x_0 } else { y1_69 };
        y2_70
    };
    y_71
}

/// `log`: the natural logarithm (within 1 ulp).
#[inline(always)]
pub fn log(x_0: f64) -> f64 {
    let ix0_1 = bits(x_0);
    let wrap_3 = i64::wrapping_add(ix0_1, 0x7ff0000000000000_i64);
    let odd_5 = wrap_3 >= (0xffe0000000000000_u64 as i64);
    let (ix_11, koff_12) = if odd_5 {
        let xs_7 = x_0 * 1.8014398509481984e16_f64;
        let ixs_8 = bits(xs_7);
        (ixs_8, 54_i64)
    } else {
        (ix0_1, 0_i64)
    };
    let t_14 = i64::wrapping_sub(ix_11, 0x3fe6a09e667f3bcd_i64);
    let ke_16 = i64::wrapping_shr(t_14, 52);
    let ki_17 = i64::wrapping_sub(ke_16, koff_12);
    let k_18 = ki_17 as f64;
    let te_20 = t_14 & (0xfff0000000000000_u64 as i64);
    let im_21 = i64::wrapping_sub(ix_11, te_20);
    let m_22 = f64::from_bits(im_21 as u64);
    let f_24 = m_22 - 1.0_f64;
    let d_26 = f_24 + 2.0_f64;
    let s_27 = f_24 / d_26;
    let hf_29 = f_24 * 0.5_f64;
    let hfsq_30 = hf_29 * f_24;
    let kl_32 = k_18 * 0.6931471805598903_f64;
    let head_33 = kl_32 + f_24;
    let hk_34 = head_33 - kl_32;
    let err_35 = f_24 - hk_34;
    let t0_37 = f64::mul_add(k_18, 5.497923018708371e-14_f64, err_35);
    let nf_38 = -f_24;
    let tail_39 = f64::mul_add(hf_29, nf_38, t0_37);
    let z_40 = s_27 * s_27;
    let z2_41 = z_40 * z_40;
    let p0_44 = f64::mul_add(z_40, 0.3999999999989969_f64, 0.666666666666667_f64);
    let p1_47 = f64::mul_add(z_40, 0.22222211120872673_f64, 0.2857142862601478_f64);
    let p2_50 = f64::mul_add(z_40, 0.15331674499948708_f64, 0.18182890401142213_f64);
    let q0_52 = f64::mul_add(z2_41, 0.14617065392794568_f64, p2_50);
    let q1_53 = f64::mul_add(z2_41, q0_52, p1_47);
    let p_54 = f64::mul_add(z2_41, q1_53, p0_44);
    let w_55 = f64::mul_add(z_40, p_54, hfsq_30);
    let c_56 = f64::mul_add(s_27, w_55, tail_39);
    let y_57 = head_33 + c_56;
    let res_70 = if odd_5 {
        let pos_59 = x_0 > 0.0_f64;
        let fin_61 = x_0 < f64::INFINITY;
        let sub_62 = pos_59 & fin_61;
        let zero_63 = x_0 == 0.0_f64;
        let neg_64 = x_0 < 0.0_f64;
        let y0_65 = if sub_62 { y_57 } else { x_0 };
        let y1_67 = if zero_63 { f64::NEG_INFINITY } else { y0_65 };
        let y2_69 = if neg_64 { f64::NAN } else { y1_67 };
        y2_69
    } else {
        y_57
    };
    res_70
}

/// `sin`: the sine (within 1 ulp).
#[inline(always)]
pub fn sin(x_0: f64) -> f64 {
    let ax_1 = f64::abs(x_0);
    let small_3 = ax_1 <= 0.7853981633974483_f64;
    let y_88 = if small_3 {
        let z_s_4 = x_0 * x_0;
        let z2_s_5 = z_s_4 * z_s_4;
        let rz_s_7 = f64::mul_add(x_0, z_s_4, 0.0_f64);
        let sp0_s_10 = f64::mul_add(z_s_4, 0.008333333333321898_f64, (-0.1666666666666663_f64));
        let sp1_s_13 = f64::mul_add(z_s_4, 2.7557313570498283e-6_f64, (-0.00019841269829431722_f64));
        let sp2_s_16 = f64::mul_add(z_s_4, 1.589580555011928e-10_f64, (-2.5050740180718966e-8_f64));
        let sq_s_17 = f64::mul_add(z2_s_5, sp2_s_16, sp1_s_13);
        let sp_s_18 = f64::mul_add(z2_s_5, sq_s_17, sp0_s_10);
        let st_s_19 = rz_s_7 * sp_s_18;
        let y_s_20 = x_0 + st_s_19;
        y_s_20
    } else {
        let mid_22 = ax_1 < 1000000.0_f64;
        let (r_40, rl_41, n_42) = if mid_22 {
            let kd_25 = f64::mul_add(x_0, 0.6366197723675814_f64, 6755399441055744.0_f64);
            let nf_26 = kd_25 - 6755399441055744.0_f64;
            let n_c_27 = bits(kd_25);
            let rh_29 = f64::mul_add(nf_26, (-1.5707963267948966_f64), x_0);
            let np_31 = nf_26 * 6.12323399538461e-17_f64;
            let r_c_32 = rh_29 - np_31;
            let e0_33 = rh_29 - r_c_32;
            let e1_34 = e0_33 - np_31;
            let rl_c_36 = f64::mul_add(nf_26, (-3.5215598651832e-27_f64), e1_34);
            (r_c_32, rl_c_36, n_c_27)
        } else {
            let (rn_37, rg_38, qs_39) = parts::reduce_huge(x_0);
            (rn_37, rg_38, qs_39)
        };
        let q2_44 = n_42 & 2_i64;
        let qb_46 = i64::wrapping_shl(q2_44, 62);
        let qc_48 = qb_46 | 0x3ff0000000000000_i64;
        let sgn_49 = f64::from_bits(qc_48 as u64);
        let z_50 = r_40 * r_40;
        let z2_51 = z_50 * z_50;
        let q1_53 = n_42 & 1_i64;
        let odd_55 = q1_53 != 0_i64;
        let yr_87 = if odd_55 {
            let cw_58 = f64::mul_add(z_50, (-0.5_f64), 1.0_f64);
            let cd_59 = 1.0_f64 - cw_58;
            let ce_60 = f64::mul_add(z_50, (-0.5_f64), cd_59);
            let nr_61 = -r_40;
            let cl_62 = f64::mul_add(nr_61, rl_41, ce_60);
            let cp0_65 = f64::mul_add(z_50, (-0.0013888888888874459_f64), 0.0416666666666666_f64);
            let cp1_68 = f64::mul_add(z_50, (-2.755731439375834e-7_f64), 2.4801587289653715e-5_f64);
            let cp2_71 = f64::mul_add(z_50, (-1.1359857818710249e-11_f64), 2.0875728035958986e-9_f64);
            let cq_72 = f64::mul_add(z2_51, cp2_71, cp1_68);
            let cp_73 = f64::mul_add(z2_51, cq_72, cp0_65);
            let ct_74 = f64::mul_add(z2_51, cp_73, cl_62);
            let cs_75 = sgn_49 * cw_58;
            let yc_76 = f64::mul_add(sgn_49, ct_74, cs_75);
            yc_76
        } else {
            let rs_77 = r_40 * sgn_49;
            let rls_78 = rl_41 * sgn_49;
            let rz_79 = f64::mul_add(rs_77, z_50, 0.0_f64);
            let sp0_80 = f64::mul_add(z_50, 0.008333333333321898_f64, (-0.1666666666666663_f64));
            let sp1_81 = f64::mul_add(z_50, 2.7557313570498283e-6_f64, (-0.00019841269829431722_f64));
            let sp2_82 = f64::mul_add(z_50, 1.589580555011928e-10_f64, (-2.5050740180718966e-8_f64));
            let sq_83 = f64::mul_add(z2_51, sp2_82, sp1_81);
            let sp_84 = f64::mul_add(z2_51, sq_83, sp0_80);
            let st_85 = f64::mul_add(rz_79, sp_84, rls_78);
            let ys_86 = rs_77 + st_85;
            ys_86
        };
        yr_87
    };
    y_88
}

/// `cos`: the cosine (within 1 ulp).
#[inline(always)]
pub fn cos(x_0: f64) -> f64 {
    let ax_1 = f64::abs(x_0);
    let small_3 = ax_1 <= 0.7853981633974483_f64;
    let y_91 = if small_3 {
        let z_s_4 = x_0 * x_0;
        let z2_s_5 = z_s_4 * z_s_4;
        let cw_s_8 = f64::mul_add(z_s_4, (-0.5_f64), 1.0_f64);
        let cd_s_9 = 1.0_f64 - cw_s_8;
        let ce_s_10 = f64::mul_add(z_s_4, (-0.5_f64), cd_s_9);
        let cp0_s_13 = f64::mul_add(z_s_4, (-0.0013888888888874459_f64), 0.0416666666666666_f64);
        let cp1_s_16 = f64::mul_add(z_s_4, (-2.755731439375834e-7_f64), 2.4801587289653715e-5_f64);
        let cp2_s_19 = f64::mul_add(z_s_4, (-1.1359857818710249e-11_f64), 2.0875728035958986e-9_f64);
        let cq_s_20 = f64::mul_add(z2_s_5, cp2_s_19, cp1_s_16);
        let cp_s_21 = f64::mul_add(z2_s_5, cq_s_20, cp0_s_13);
        let ct_s_22 = f64::mul_add(z2_s_5, cp_s_21, ce_s_10);
        let y_s_23 = cw_s_8 + ct_s_22;
        y_s_23
    } else {
        let mid_25 = ax_1 < 1000000.0_f64;
        let (r_43, rl_44, n_45) = if mid_25 {
            let kd_28 = f64::mul_add(x_0, 0.6366197723675814_f64, 6755399441055744.0_f64);
            let nf_29 = kd_28 - 6755399441055744.0_f64;
            let n_c_30 = bits(kd_28);
            let rh_32 = f64::mul_add(nf_29, (-1.5707963267948966_f64), x_0);
            let np_34 = nf_29 * 6.12323399538461e-17_f64;
            let r_c_35 = rh_32 - np_34;
            let e0_36 = rh_32 - r_c_35;
            let e1_37 = e0_36 - np_34;
            let rl_c_39 = f64::mul_add(nf_29, (-3.5215598651832e-27_f64), e1_37);
            (r_c_35, rl_c_39, n_c_30)
        } else {
            let (rn_40, rg_41, qs_42) = parts::reduce_huge(x_0);
            (rn_40, rg_41, qs_42)
        };
        let q_47 = i64::wrapping_add(n_45, 1_i64);
        let q2_49 = q_47 & 2_i64;
        let qb_51 = i64::wrapping_shl(q2_49, 62);
        let qc_53 = qb_51 | 0x3ff0000000000000_i64;
        let sgn_54 = f64::from_bits(qc_53 as u64);
        let z_55 = r_43 * r_43;
        let z2_56 = z_55 * z_55;
        let q1_57 = q_47 & 1_i64;
        let odd_59 = q1_57 != 0_i64;
        let yr_90 = if odd_59 {
            let cw_60 = f64::mul_add(z_55, (-0.5_f64), 1.0_f64);
            let cd_61 = 1.0_f64 - cw_60;
            let ce_62 = f64::mul_add(z_55, (-0.5_f64), cd_61);
            let nr_63 = -r_43;
            let cl_64 = f64::mul_add(nr_63, rl_44, ce_62);
            let cp0_65 = f64::mul_add(z_55, (-0.0013888888888874459_f64), 0.0416666666666666_f64);
            let cp1_66 = f64::mul_add(z_55, (-2.755731439375834e-7_f64), 2.4801587289653715e-5_f64);
            let cp2_67 = f64::mul_add(z_55, (-1.1359857818710249e-11_f64), 2.0875728035958986e-9_f64);
            let cq_68 = f64::mul_add(z2_56, cp2_67, cp1_66);
            let cp_69 = f64::mul_add(z2_56, cq_68, cp0_65);
            let ct_70 = f64::mul_add(z2_56, cp_69, cl_64);
            let cs_71 = sgn_54 * cw_60;
            let yc_72 = f64::mul_add(sgn_54, ct_70, cs_71);
            yc_72
        } else {
            let rs_73 = r_43 * sgn_54;
            let rls_74 = rl_44 * sgn_54;
            let rz_76 = f64::mul_add(rs_73, z_55, 0.0_f64);
            let sp0_79 = f64::mul_add(z_55, 0.008333333333321898_f64, (-0.1666666666666663_f64));
            let sp1_82 = f64::mul_add(z_55, 2.7557313570498283e-6_f64, (-0.00019841269829431722_f64));
            let sp2_85 = f64::mul_add(z_55, 1.589580555011928e-10_f64, (-2.5050740180718966e-8_f64));
            let sq_86 = f64::mul_add(z2_56, sp2_85, sp1_82);
            let sp_87 = f64::mul_add(z2_56, sq_86, sp0_79);
            let st_88 = f64::mul_add(rz_76, sp_87, rls_74);
            let ys_89 = rs_73 + st_88;
            ys_89
        };
        yr_90
    };
    y_91
}

/// `tanh`: the hyperbolic tangent (within 2 ulp).
#[inline(always)]
pub fn tanh(x_0: f64) -> f64 {
    let ax_1 = f64::abs(x_0);
    let near_3 = ax_1 < 0.9_f64;
    let y_76 = if near_3 {
        let z_4 = x_0 * x_0;
        let z2_5 = z_4 * z_4;
        let xz_7 = f64::mul_add(x_0, z_4, 0.0_f64);
        let p0_10 = f64::mul_add(z_4, (-0.06423708278571469_f64), (-1.0_f64));
        let p1_13 = f64::mul_add(z_4, (-5.193477463090182e-8_f64), (-0.0007302456843328979_f64));
        let q0_16 = f64::mul_add(z_4, 1.3927112483571435_f64, 3.0_f64);
        let q1_19 = f64::mul_add(z_4, 0.0007633498349077354_f64, 0.07356095068158265_f64);
        let p_20 = f64::mul_add(z2_5, p1_13, p0_10);
        let q_21 = f64::mul_add(z2_5, q1_19, q0_16);
        let num_22 = xz_7 * p_20;
        let cor_23 = num_22 / q_21;
        let yn_24 = x_0 + cor_23;
        yn_24
    } else {
        let ib_25 = bits(x_0);
        let is_27 = ib_25 & (0x8000000000000000_u64 as i64);
        let io_29 = is_27 | 0x3ff0000000000000_i64;
        let one_30 = f64::from_bits(io_29 as u64);
        let mid_32 = ax_1 < 20.0_f64;
        let yf_75 = if mid_32 {
            let kd_35 = f64::mul_add(ax_1, 2.8853900817779268_f64, 6755399441055744.0_f64);
            let n_36 = kd_35 - 6755399441055744.0_f64;
            let a2_37 = ax_1 + ax_1;
            let r_39 = f64::mul_add(n_36, (-0.6931471805599453_f64), a2_37);
            let ki_40 = bits(kd_35);
            let sh_42 = i64::wrapping_shl(ki_40, 52);
            let sb_43 = i64::wrapping_add(sh_42, 0x3ff0000000000000_i64);
            let sc_44 = f64::from_bits(sb_43 as u64);
            let r2_45 = r_39 * r_39;
            let e0_48 = f64::mul_add(r_39, 0.1666666666666642_f64, 0.5000000000000011_f64);
            let e1_51 = f64::mul_add(r_39, 0.008333333333490218_f64, 0.041666666666526596_f64);
            let e2_54 = f64::mul_add(r_39, 0.0001984126951649935_f64, 0.001388888894451334_f64);
            let e3_57 = f64::mul_add(r_39, 2.7557576800090774e-6_f64, 2.480149221124442e-5_f64);
            let e4_60 = f64::mul_add(r_39, 2.5003327706230185e-8_f64, 2.7630560280471973e-7_f64);
            let r4_61 = r2_45 * r2_45;
            let g0_62 = f64::mul_add(r2_45, e1_51, e0_48);
            let g1_63 = f64::mul_add(r2_45, e3_57, e2_54);
            let g2_64 = f64::mul_add(r4_61, e4_60, g1_63);
            let g_65 = f64::mul_add(r4_61, g2_64, g0_62);
            let em1_66 = f64::mul_add(r2_45, g_65, r_39);
            let sc1_68 = sc_44 + 1.0_f64;
            let den_69 = f64::mul_add(sc_44, em1_66, sc1_68);
            let two_70 = one_30 + one_30;
            let quo_71 = two_70 / den_69;
            let yl_72 = one_30 - quo_71;
            yl_72
        } else {
            let isnan_73 = x_0 != x_0;
            let ys_74 = if isnan_73 { x_0 } else { one_30 };
            ys_74
        };
        yf_75
    };
    y_76
}

/// `cbrt`: the cube root, of negative numbers too (within 1 ulp).
#[inline(always)]
pub fn cbrt(x_0: f64) -> f64 {
    let ax_1 = f64::abs(x_0);
    let tiny_3 = ax_1 < 2.2250738585072014e-308_f64;
    let xs_5 = ax_1 * 1.8014398509481984e16_f64;
    let ix_6 = if tiny_3 { xs_5 } else { ax_1 };
    let ix_7 = bits(ix_6);
    let e_9 = u64::wrapping_shr(ix_7 as u64, 52) as i64;
    let q_11 = i64::wrapping_mul(e_9, 21846_i64);
    let q_13 = i64::wrapping_shr(q_11, 16);
    let j_15 = i64::wrapping_mul(q_13, 3_i64);
    let j_16 = i64::wrapping_sub(e_9, j_15);
    let im_18 = ix_7 & 0xfffffffffffff_i64;
    let im_20 = i64::wrapping_add(j_16, 1023_i64);
    let im_21 = i64::wrapping_shl(im_20, 52);
    let im_22 = im_18 | im_21;
    let m_23 = f64::from_bits(im_22 as u64);
    let t0_25 = umulh(im_22, 0x5555555555555556_i64);
    let t0_27 = i64::wrapping_add(t0_25, 0x2a9f7893782da1ce_i64);
    let t0_28 = f64::from_bits(t0_27 as u64);
    let r_29 = t0_28 * t0_28;
    let r_30 = t0_28 / m_23;
    let r_31 = r_29 * r_30;
    let p_p_34 = f64::mul_add(r_31, (-1.8849797954337717_f64), 1.87595182427177_f64);
    let p_p_37 = f64::mul_add(r_31, (-0.758397934778766_f64), 1.6214297201053545_f64);
    let p_z2_38 = r_31 * r_31;
    let p_p_39 = f64::mul_add(p_z2_38, p_p_37, p_p_34);
    let p_z4_40 = p_z2_38 * p_z2_38;
    let p_42 = f64::mul_add(p_z4_40, 0.14599619288661245_f64, p_p_39);
    let t_43 = t0_28 * p_42;
    let t2_44 = t_43 * t_43;
    let t2l_45 = -t2_44;
    let t2l_46 = f64::mul_add(t_43, t_43, t2l_45);
    let t3_47 = t2_44 * t_43;
    let t3l_48 = -t3_47;
    let t3l_49 = f64::mul_add(t2_44, t_43, t3l_48);
    let d_50 = m_23 - t3_47;
    let d_51 = f64::mul_add(t2l_46, t_43, t3l_49);
    let d_52 = d_50 - d_51;
    let t3x_54 = f64::mul_add(2.0_f64, t3_47, m_23);
    let c_55 = d_52 / t3x_54;
    let c_56 = f64::mul_add(t_43, c_55, t_43);
    let off_59 = if tiny_3 { 359_i64 } else { 341_i64 };
    let s_60 = i64::wrapping_sub(q_13, off_59);
    let s_61 = i64::wrapping_add(s_60, 1023_i64);
    let s_62 = i64::wrapping_shl(s_61, 52);
    let s_63 = f64::from_bits(s_62 as u64);
    let v_64 = c_56 * s_63;
    let y_65 = bits(v_64);
    let y_66 = bits(x_0);
    let y_68 = y_66 & (0x8000000000000000_u64 as i64);
    let y_69 = y_65 | y_68;
    let y_70 = f64::from_bits(y_69 as u64);
    let usual_72 = ax_1 > 0.0_f64;
    let usual_74 = ax_1 < f64::INFINITY;
    let usual_75 = usual_72 & usual_74;
    let y_76 = if usual_75 { y_70 } else { x_0 };
    y_76
}

/// `exp2`: 2 to the power x (within 1 ulp).
#[inline(always)]
pub fn exp2(x_0: f64) -> f64 {
    let kd_2 = x_0 + 6755399441055744.0_f64;
    let n_3 = kd_2 - 6755399441055744.0_f64;
    let ki_4 = bits(kd_2);
    let f_5 = x_0 - n_3;
    let r_7 = f_5 * 0.6931471805599453_f64;
    let re_8 = -r_7;
    let re_9 = f64::mul_add(f_5, 0.6931471805599453_f64, re_8);
    let rl_11 = f64::mul_add(f_5, 2.3190468138462996e-17_f64, re_9);
    let r2_12 = r_7 * r_7;
    let q_p_15 = f64::mul_add(r_7, 0.1666666666666642_f64, 0.5000000000000011_f64);
    let q_p_18 = f64::mul_add(r_7, 0.008333333333490218_f64, 0.041666666666526596_f64);
    let q_p_21 = f64::mul_add(r_7, 0.0001984126951649935_f64, 0.001388888894451334_f64);
    let q_p_24 = f64::mul_add(r_7, 2.7557576800090774e-6_f64, 2.480149221124442e-5_f64);
    let q_p_27 = f64::mul_add(r_7, 2.5003327706230185e-8_f64, 2.7630560280471973e-7_f64);
    let q_z2_28 = r_7 * r_7;
    let q_p_29 = f64::mul_add(q_z2_28, q_p_18, q_p_15);
    let q_p_30 = f64::mul_add(q_z2_28, q_p_24, q_p_21);
    let q_z4_31 = q_z2_28 * q_z2_28;
    let q_p_32 = f64::mul_add(q_z4_31, q_p_30, q_p_29);
    let q_z8_33 = q_z4_31 * q_z4_31;
    let q_34 = f64::mul_add(q_z8_33, q_p_27, q_p_32);
    let head_36 = r_7 + 1.0_f64;
    let err_37 = head_36 - 1.0_f64;
    let err_38 = r_7 - err_37;
    let tail_39 = f64::mul_add(rl_11, r_7, rl_11);
    let tail_40 = err_38 + tail_39;
    let tail_41 = f64::mul_add(r2_12, q_34, tail_40);
    let plain_42 = f64::abs(x_0);
    let plain_44 = plain_42 < 1021.0_f64;
    let y_77 = if plain_44 {
        let sc_46 = i64::wrapping_shl(ki_4, 52);
        let sc_48 = i64::wrapping_add(sc_46, 0x3ff0000000000000_i64);
        let sc_49 = f64::from_bits(sc_48 as u64);
        let y_50 = sc_49 * head_36;
        let y_51 = f64::mul_add(sc_49, tail_41, y_50);
        y_51
    } else {
        let k_53 = i64::wrapping_shl(ki_4, 32);
        let k_54 = i64::wrapping_shr(k_53, 32);
        let ka_56 = i64::wrapping_shr(k_54, 1);
        let fa_57 = i64::wrapping_shl(ka_56, 52);
        let fa_58 = i64::wrapping_add(fa_57, 0x3ff0000000000000_i64);
        let fa_59 = f64::from_bits(fa_58 as u64);
        let fb_60 = i64::wrapping_sub(k_54, ka_56);
        let fb_61 = i64::wrapping_shl(fb_60, 52);
        let fb_62 = i64::wrapping_add(fb_61, 0x3ff0000000000000_i64);
        let fb_63 = f64::from_bits(fb_62 as u64);
        let y0_64 = head_36 + tail_41;
        let y0_65 = y0_64 * fa_59;
        let y0_66 = y0_65 * fb_63;
        let y1_68 = x_0 >= 1024.0_f64;
        let y1_70 = if y1_68 { f64::INFINITY } else { y0_66 };
        let y2_72 = x_0 <= (-1075.0_f64);
        let y2_74 = if y2_72 { 0.0_f64 } else { y1_70 };
        let y_75 = x_0 != x_0;
        let y_76 = if y_75 { x_0 } else { y2_74 };
        y_76
    };
    y_77
}

/// `expm1`: e^x - 1, without cancellation near 0 (within 1 ulp).
#[inline(always)]
pub fn expm1(x_0: f64) -> f64 {
    let ax_1 = f64::abs(x_0);
    let small_3 = ax_1 < 0.55_f64;
    let y_105 = if small_3 {
        let z_4 = x_0 * x_0;
        let q_p_7 = f64::mul_add(x_0, 0.041666666666668566_f64, 0.16666666666666693_f64);
        let q_p_10 = f64::mul_add(x_0, 0.0013888888888255071_f64, 0.008333333333324573_f64);
        let q_p_13 = f64::mul_add(x_0, 2.480158806754898e-5_f64, 0.00019841269851519796_f64);
        let q_p_16 = f64::mul_add(x_0, 2.7556889588561e-7_f64, 2.755731377876075e-6_f64);
        let q_p_19 = f64::mul_add(x_0, 2.0990446871677524e-9_f64, 2.5053391961598423e-8_f64);
        let q_z2_20 = x_0 * x_0;
        let q_p_21 = f64::mul_add(q_z2_20, q_p_10, q_p_7);
        let q_p_22 = f64::mul_add(q_z2_20, q_p_16, q_p_13);
        let q_p_24 = f64::mul_add(q_z2_20, 1.5976658545097664e-10_f64, q_p_19);
        let q_z4_25 = q_z2_20 * q_z2_20;
        let q_p_26 = f64::mul_add(q_z4_25, q_p_22, q_p_21);
        let q_z8_27 = q_z4_25 * q_z4_25;
        let q_28 = f64::mul_add(q_z8_27, q_p_24, q_p_26);
        let hx_30 = x_0 * 0.5_f64;
        let head_31 = f64::mul_add(hx_30, x_0, x_0);
        let tail_32 = x_0 - head_31;
        let tail_33 = f64::mul_add(hx_30, x_0, tail_32);
        let t_34 = z_4 * x_0;
        let t_35 = f64::mul_add(t_34, q_28, tail_33);
        let s_36 = head_31 + t_35;
        let y_38 = x_0 == 0.0_f64;
        let y_39 = if y_38 { x_0 } else { s_36 };
        y_39
    } else {
        let low_41 = x_0 < (-40.0_f64);
        let xc_42 = if low_41 { (-40.0_f64) } else { x_0 };
        let kd_45 = f64::mul_add(xc_42, 1.4426950408889634_f64, 6755399441055744.0_f64);
        let n_46 = kd_45 - 6755399441055744.0_f64;
        let rh_48 = f64::mul_add(n_46, (-0.6931471805599453_f64), xc_42);
        let r_50 = f64::mul_add(n_46, (-2.3190468138462996e-17_f64), rh_48);
        let rl_51 = rh_48 - r_50;
        let rl_52 = f64::mul_add(n_46, (-2.3190468138462996e-17_f64), rl_51);
        let r2_53 = r_50 * r_50;
        let q_p_56 = f64::mul_add(r_50, 0.1666666666666642_f64, 0.5000000000000011_f64);
        let q_p_59 = f64::mul_add(r_50, 0.008333333333490218_f64, 0.041666666666526596_f64);
        let q_p_62 = f64::mul_add(r_50, 0.0001984126951649935_f64, 0.001388888894451334_f64);
        let q_p_65 = f64::mul_add(r_50, 2.7557576800090774e-6_f64, 2.480149221124442e-5_f64);
        let q_p_68 = f64::mul_add(r_50, 2.5003327706230185e-8_f64, 2.7630560280471973e-7_f64);
        let q_z2_69 = r_50 * r_50;
        let q_p_70 = f64::mul_add(q_z2_69, q_p_59, q_p_56);
        let q_p_71 = f64::mul_add(q_z2_69, q_p_65, q_p_62);
        let q_z4_72 = q_z2_69 * q_z2_69;
        let q_p_73 = f64::mul_add(q_z4_72, q_p_71, q_p_70);
        let q_z8_74 = q_z4_72 * q_z4_72;
        let q_75 = f64::mul_add(q_z8_74, q_p_68, q_p_73);
        let sc_76 = bits(kd_45);
        let sc_78 = i64::wrapping_sub(sc_76, 1_i64);
        let sc_80 = i64::wrapping_shl(sc_78, 52);
        let sc_82 = i64::wrapping_add(sc_80, 0x3ff0000000000000_i64);
        let sc_83 = f64::from_bits(sc_82 as u64);
        let c_84 = sc_83 - 0.5_f64;
        let e_85 = sc_83 - c_84;
        let e_86 = e_85 - 0.5_f64;
        let p_87 = sc_83 * r_50;
        let h_88 = c_84 + p_87;
        let bb_89 = h_88 - c_84;
        let l_90 = h_88 - bb_89;
        let l_91 = c_84 - l_90;
        let l_92 = p_87 - bb_89;
        let l_93 = l_91 + l_92;
        let t_94 = f64::mul_add(r2_53, q_75, rl_52);
        let t_95 = l_93 + e_86;
        let t_96 = f64::mul_add(sc_83, t_94, t_95);
        let half_97 = h_88 + t_96;
        let y0_98 = half_97 + half_97;
        let y1_100 = x_0 > 709.782712893384_f64;
        let y1_102 = if y1_100 { f64::INFINITY } else { y0_98 };
        let y_103 = x_0 != x_0;
        let y_104 = if y_103 { x_0 } else { y1_102 };
        y_104
    };
    y_105
}

/// `log2`: the logarithm to base 2 (within 1.5 ulp).
#[inline(always)]
pub fn log2(x_0: f64) -> f64 {
    let ix0_1 = bits(x_0);
    let odd_3 = i64::wrapping_add(ix0_1, 0x7ff0000000000000_i64);
    let odd_5 = odd_3 >= (0xffe0000000000000_u64 as i64);
    let (ix_11, koff_12) = if odd_5 {
        let ix_7 = x_0 * 1.8014398509481984e16_f64;
        let ix_8 = bits(ix_7);
        (ix_8, 54_i64)
    } else {
        (ix0_1, 0_i64)
    };
    let t_14 = i64::wrapping_sub(ix_11, 0x3fe6a09e667f3bcd_i64);
    let k_16 = i64::wrapping_shr(t_14, 52);
    let k_17 = i64::wrapping_sub(k_16, koff_12);
    let te_19 = t_14 & (0xfff0000000000000_u64 as i64);
    let m_20 = i64::wrapping_sub(ix_11, te_19);
    let m_21 = f64::from_bits(m_20 as u64);
    let kf_22 = k_17 as f64;
    let f_24 = m_21 - 1.0_f64;
    let s_26 = f_24 + 2.0_f64;
    let s_27 = f_24 / s_26;
    let hf_29 = f_24 * 0.5_f64;
    let hfsq_30 = hf_29 * f_24;
    let tail_31 = -f_24;
    let tail_33 = f64::mul_add(hf_29, tail_31, 0.0_f64);
    let z_34 = s_27 * s_27;
    let p_p_37 = f64::mul_add(z_34, 0.3999999999989969_f64, 0.666666666666667_f64);
    let p_p_40 = f64::mul_add(z_34, 0.22222211120872673_f64, 0.2857142862601478_f64);
    let p_p_43 = f64::mul_add(z_34, 0.15331674499948708_f64, 0.18182890401142213_f64);
    let p_z2_44 = z_34 * z_34;
    let p_p_45 = f64::mul_add(p_z2_44, p_p_40, p_p_37);
    let p_p_47 = f64::mul_add(p_z2_44, 0.14617065392794568_f64, p_p_43);
    let p_z4_48 = p_z2_44 * p_z2_44;
    let p_49 = f64::mul_add(p_z4_48, p_p_47, p_p_45);
    let c_50 = f64::mul_add(z_34, p_49, hfsq_30);
    let c_51 = f64::mul_add(s_27, c_50, tail_33);
    let h_52 = f_24 + c_51;
    let hl_53 = h_52 - f_24;
    let hl_54 = c_51 - hl_53;
    let p_56 = h_52 * 1.4426950408889634_f64;
    let pe_57 = -p_56;
    let pe_58 = f64::mul_add(h_52, 1.4426950408889634_f64, pe_57);
    let pl_60 = f64::mul_add(h_52, 2.0355273740931033e-17_f64, pe_58);
    let pl_61 = f64::mul_add(hl_54, 1.4426950408889634_f64, pl_60);
    let s_62 = kf_22 + p_56;
    let bb_63 = s_62 - kf_22;
    let e_64 = s_62 - bb_63;
    let e_65 = kf_22 - e_64;
    let e_66 = p_56 - bb_63;
    let e_67 = e_65 + e_66;
    let y_68 = e_67 + pl_61;
    let y_69 = s_62 + y_68;
    let res_81 = if odd_5 {
        let sub_70 = x_0 > 0.0_f64;
        let sub_72 = x_0 < f64::INFINITY;
        let sub_73 = sub_70 & sub_72;
        let y0_74 = if sub_73 { y_69 } else { x_0 };
        let y1_75 = x_0 == 0.0_f64;
        let y1_77 = if y1_75 { f64::NEG_INFINITY } else { y0_74 };
        let res_78 = x_0 < 0.0_f64;
        let res_80 = if res_78 { f64::NAN } else { y1_77 };
        res_80
    } else {
        y_69
    };
    res_81
}

/// `log10`: the logarithm to base 10 (within 1 ulp).
#[inline(always)]
pub fn log10(x_0: f64) -> f64 {
    let ix0_1 = bits(x_0);
    let odd_3 = i64::wrapping_add(ix0_1, 0x7ff0000000000000_i64);
    let odd_5 = odd_3 >= (0xffe0000000000000_u64 as i64);
    let (ix_11, koff_12) = if odd_5 {
        let ix_7 = x_0 * 1.8014398509481984e16_f64;
        let ix_8 = bits(ix_7);
        (ix_8, 54_i64)
    } else {
        (ix0_1, 0_i64)
    };
    let t_14 = i64::wrapping_sub(ix_11, 0x3fe6a09e667f3bcd_i64);
    let k_16 = i64::wrapping_shr(t_14, 52);
    let k_17 = i64::wrapping_sub(k_16, koff_12);
    let te_19 = t_14 & (0xfff0000000000000_u64 as i64);
    let m_20 = i64::wrapping_sub(ix_11, te_19);
    let m_21 = f64::from_bits(m_20 as u64);
    let kf_22 = k_17 as f64;
    let f_24 = m_21 - 1.0_f64;
    let s_26 = f_24 + 2.0_f64;
    let s_27 = f_24 / s_26;
    let hf_29 = f_24 * 0.5_f64;
    let hfsq_30 = hf_29 * f_24;
    let tail_31 = -f_24;
    let tail_33 = f64::mul_add(hf_29, tail_31, 0.0_f64);
    let z_34 = s_27 * s_27;
    let p_p_37 = f64::mul_add(z_34, 0.3999999999989969_f64, 0.666666666666667_f64);
    let p_p_40 = f64::mul_add(z_34, 0.22222211120872673_f64, 0.2857142862601478_f64);
    let p_p_43 = f64::mul_add(z_34, 0.15331674499948708_f64, 0.18182890401142213_f64);
    let p_z2_44 = z_34 * z_34;
    let p_p_45 = f64::mul_add(p_z2_44, p_p_40, p_p_37);
    let p_p_47 = f64::mul_add(p_z2_44, 0.14617065392794568_f64, p_p_43);
    let p_z4_48 = p_z2_44 * p_z2_44;
    let p_49 = f64::mul_add(p_z4_48, p_p_47, p_p_45);
    let c_50 = f64::mul_add(z_34, p_49, hfsq_30);
    let c_51 = f64::mul_add(s_27, c_50, tail_33);
    let h_52 = f_24 + c_51;
    let hl_53 = h_52 - f_24;
    let hl_54 = c_51 - hl_53;
    let p_56 = h_52 * 0.4342944819032518_f64;
    let pe_57 = -p_56;
    let pe_58 = f64::mul_add(h_52, 0.4342944819032518_f64, pe_57);
    let pl_60 = f64::mul_add(h_52, 1.098319650216765e-17_f64, pe_58);
    let pl_61 = f64::mul_add(hl_54, 0.4342944819032518_f64, pl_60);
    let kh_63 = kf_22 * 0.3010299956640665_f64;
    let s_64 = kh_63 + p_56;
    let bb_65 = s_64 - kh_63;
    let e_66 = s_64 - bb_65;
    let e_67 = kh_63 - e_66;
    let e_68 = p_56 - bb_65;
    let e_69 = e_67 + e_68;
    let y_70 = e_69 + pl_61;
    let y_72 = f64::mul_add(kf_22, (-8.532344317057107e-14_f64), y_70);
    let y_73 = s_64 + y_72;
    let res_85 = if odd_5 {
        let sub_74 = x_0 > 0.0_f64;
        let sub_76 = x_0 < f64::INFINITY;
        let sub_77 = sub_74 & sub_76;
        let y0_78 = if sub_77 { y_73 } else { x_0 };
        let y1_79 = x_0 == 0.0_f64;
        let y1_81 = if y1_79 { f64::NEG_INFINITY } else { y0_78 };
        let res_82 = x_0 < 0.0_f64;
        let res_84 = if res_82 { f64::NAN } else { y1_81 };
        res_84
    } else {
        y_73
    };
    res_85
}

/// `log1p`: log(1 + x), without cancellation near 0 (within 1 ulp).
#[inline(always)]
pub fn log1p(x_0: f64) -> f64 {
    let u_2 = 1.0_f64 + x_0;
    let bb_3 = u_2 - 1.0_f64;
    let ul_4 = u_2 - bb_3;
    let ul_5 = 1.0_f64 - ul_4;
    let ul_6 = x_0 - bb_3;
    let ul_7 = ul_5 + ul_6;
    let ix_8 = bits(u_2);
    let t_10 = i64::wrapping_sub(ix_8, 0x3fe6a09e667f3bcd_i64);
    let k_12 = i64::wrapping_shr(t_10, 52);
    let k_14 = i64::wrapping_sub(k_12, 0_i64);
    let te_16 = t_10 & (0xfff0000000000000_u64 as i64);
    let m_17 = i64::wrapping_sub(ix_8, te_16);
    let m_18 = f64::from_bits(m_17 as u64);
    let kf_19 = k_14 as f64;
    let sc_21 = i64::wrapping_sub(0x3ff0000000000000_i64, te_16);
    let sc_22 = i64::max(sc_21, 0_i64);
    let sc_23 = f64::from_bits(sc_22 as u64);
    let f0_24 = m_18 - 1.0_f64;
    let fl0_25 = ul_7 * sc_23;
    let f_26 = f0_24 + fl0_25;
    let bb_27 = f_26 - f0_24;
    let fl_28 = f_26 - bb_27;
    let fl_29 = f0_24 - fl_28;
    let fl_30 = fl0_25 - bb_27;
    let fl_31 = fl_29 + fl_30;
    let kl_33 = kf_19 * 0.6931471805598903_f64;
    let head_34 = kl_33 + f_26;
    let err_35 = head_34 - kl_33;
    let err_36 = f_26 - err_35;
    let err_38 = f64::mul_add(kf_19, 5.497923018708371e-14_f64, err_36);
    let s_40 = f_26 + 2.0_f64;
    let s_41 = f_26 / s_40;
    let hf_43 = f_26 * 0.5_f64;
    let hfsq_44 = hf_43 * f_26;
    let tail_45 = -f_26;
    let tail_46 = f64::mul_add(hf_43, tail_45, err_38);
    let z_47 = s_41 * s_41;
    let p_p_50 = f64::mul_add(z_47, 0.3999999999989969_f64, 0.666666666666667_f64);
    let p_p_53 = f64::mul_add(z_47, 0.22222211120872673_f64, 0.2857142862601478_f64);
    let p_p_56 = f64::mul_add(z_47, 0.15331674499948708_f64, 0.18182890401142213_f64);
    let p_z2_57 = z_47 * z_47;
    let p_p_58 = f64::mul_add(p_z2_57, p_p_53, p_p_50);
    let p_p_60 = f64::mul_add(p_z2_57, 0.14617065392794568_f64, p_p_56);
    let p_z4_61 = p_z2_57 * p_z2_57;
    let p_62 = f64::mul_add(p_z4_61, p_p_60, p_p_58);
    let c_63 = f64::mul_add(z_47, p_62, hfsq_44);
    let c_64 = f64::mul_add(s_41, c_63, tail_46);
    let cl_65 = 1.0_f64 - f_26;
    let cl_66 = f64::mul_add(fl_31, cl_65, c_64);
    let y0_67 = head_34 + cl_66;
    let usual_69 = x_0 > (-1.0_f64);
    let usual_71 = x_0 < f64::INFINITY;
    let usual_72 = usual_69 & usual_71;
    let keep_74 = x_0 != 0.0_f64;
    let keep_75 = usual_72 & keep_74;
    let y1_76 = if keep_75 { y0_67 } else { x_0 };
    let y2_77 = x_0 == (-1.0_f64);
    let y2_79 = if y2_77 { f64::NEG_INFINITY } else { y1_76 };
    let y_80 = x_0 < (-1.0_f64);
    let y_82 = if y_80 { f64::NAN } else { y2_79 };
    y_82
}

/// `tan`: the tangent (within 1.5 ulp).
#[inline(always)]
pub fn tan(x_0: f64) -> f64 {
    let ax_1 = f64::abs(x_0);
    let small_3 = ax_1 <= 0.7853981633974483_f64;
    let (r_28, rl_29, n_30) = if small_3 {
        (x_0, 0.0_f64, 0_i64)
    } else {
        let mid_7 = ax_1 < 1000000.0_f64;
        let (n_25, r_26, rl_27) = if mid_7 {
            let kd_10 = f64::mul_add(x_0, 0.6366197723675814_f64, 6755399441055744.0_f64);
            let nf_11 = kd_10 - 6755399441055744.0_f64;
            let n_12 = bits(kd_10);
            let rh_14 = f64::mul_add(nf_11, (-1.5707963267948966_f64), x_0);
            let np_16 = nf_11 * 6.12323399538461e-17_f64;
            let r_17 = rh_14 - np_16;
            let rl_18 = rh_14 - r_17;
            let rl_19 = rl_18 - np_16;
            let rl_21 = f64::mul_add(nf_11, (-3.5215598651832e-27_f64), rl_19);
            (n_12, r_17, rl_21)
        } else {
            let (r_22, rl_23, n_24) = parts::reduce_huge(x_0);
            (n_24, r_22, rl_23)
        };
        (r_26, rl_27, n_25)
    };
    let z_31 = r_28 * r_28;
    let sp_p_34 = f64::mul_add(z_31, 0.008333333333321898_f64, (-0.1666666666666663_f64));
    let sp_p_37 = f64::mul_add(z_31, 2.7557313570498283e-6_f64, (-0.00019841269829431722_f64));
    let sp_p_40 = f64::mul_add(z_31, 1.589580555011928e-10_f64, (-2.5050740180718966e-8_f64));
    let sp_z2_41 = z_31 * z_31;
    let sp_p_42 = f64::mul_add(sp_z2_41, sp_p_37, sp_p_34);
    let sp_z4_43 = sp_z2_41 * sp_z2_41;
    let sp_44 = f64::mul_add(sp_z4_43, sp_p_40, sp_p_42);
    let st_45 = r_28 * z_31;
    let st_46 = f64::mul_add(st_45, sp_44, rl_29);
    let sh_47 = r_28 + st_46;
    let sl_48 = sh_47 - r_28;
    let sl_49 = st_46 - sl_48;
    let cp_p_52 = f64::mul_add(z_31, (-0.0013888888888874459_f64), 0.0416666666666666_f64);
    let cp_p_55 = f64::mul_add(z_31, (-2.755731439375834e-7_f64), 2.4801587289653715e-5_f64);
    let cp_p_58 = f64::mul_add(z_31, (-1.1359857818710249e-11_f64), 2.0875728035958986e-9_f64);
    let cp_z2_59 = z_31 * z_31;
    let cp_p_60 = f64::mul_add(cp_z2_59, cp_p_55, cp_p_52);
    let cp_z4_61 = cp_z2_59 * cp_z2_59;
    let cp_62 = f64::mul_add(cp_z4_61, cp_p_58, cp_p_60);
    let cw_65 = f64::mul_add(z_31, (-0.5_f64), 1.0_f64);
    let ce_66 = 1.0_f64 - cw_65;
    let ce_67 = f64::mul_add(z_31, (-0.5_f64), ce_66);
    let ct_68 = z_31 * z_31;
    let ct_69 = -r_28;
    let ct_70 = f64::mul_add(ct_69, rl_29, ce_67);
    let ct_71 = f64::mul_add(ct_68, cp_62, ct_70);
    let ch_72 = cw_65 + ct_71;
    let cl_73 = ch_72 - cw_65;
    let cl_74 = ct_71 - cl_73;
    let odd_76 = n_30 & 1_i64;
    let odd_77 = odd_76 != 0_i64;
    let nh_78 = -ch_72;
    let nh_79 = if odd_77 { nh_78 } else { sh_47 };
    let nl_80 = -cl_74;
    let nl_81 = if odd_77 { nl_80 } else { sl_49 };
    let dh_82 = if odd_77 { sh_47 } else { ch_72 };
    let dl_83 = if odd_77 { sl_49 } else { cl_74 };
    let inv_84 = 1.0_f64 / dh_82;
    let q_85 = nh_79 * inv_84;
    let d_86 = -q_85;
    let d_87 = -q_85;
    let d_88 = f64::mul_add(d_87, dh_82, nh_79);
    let d_89 = nl_81 + d_88;
    let d_90 = f64::mul_add(d_86, dl_83, d_89);
    let y_91 = f64::mul_add(d_90, inv_84, q_85);
    let y_93 = ax_1 < 3.725290298461914e-9_f64;
    let y_94 = if y_93 { x_0 } else { y_91 };
    y_94
}

/// `asin`: the inverse of the sine, from -pi/2 to pi/2 (within 1 ulp).
#[inline(always)]
pub fn asin(x_0: f64) -> f64 {
    let ax_1 = f64::abs(x_0);
    let small_3 = ax_1 < 0.5_f64;
    let y_81 = if small_3 {
        let z_4 = x_0 * x_0;
        let p_p_7 = f64::mul_add(z_4, 0.0750000000000238_f64, 0.1666666666666666_f64);
        let p_p_10 = f64::mul_add(z_4, 0.03038194463734162_f64, 0.04464285713983368_f64);
        let p_p_13 = f64::mul_add(z_4, 0.017352940755564136_f64, 0.02237215182685557_f64);
        let p_p_16 = f64::mul_add(z_4, 0.011585361564814768_f64, 0.013961936699159325_f64);
        let p_p_19 = f64::mul_add(z_4, 0.009999197457967034_f64, 0.009486188354941496_f64);
        let p_p_22 = f64::mul_add(z_4, 0.024754367095698847_f64, 0.0007162490933790675_f64);
        let p_p_25 = f64::mul_add(z_4, 0.03359369715751051_f64, (-0.026059679950454596_f64));
        let p_z2_26 = z_4 * z_4;
        let p_p_27 = f64::mul_add(p_z2_26, p_p_10, p_p_7);
        let p_p_28 = f64::mul_add(p_z2_26, p_p_16, p_p_13);
        let p_p_29 = f64::mul_add(p_z2_26, p_p_22, p_p_19);
        let p_z4_30 = p_z2_26 * p_z2_26;
        let p_p_31 = f64::mul_add(p_z4_30, p_p_28, p_p_27);
        let p_p_32 = f64::mul_add(p_z4_30, p_p_25, p_p_29);
        let p_z8_33 = p_z4_30 * p_z4_30;
        let p_34 = f64::mul_add(p_z8_33, p_p_32, p_p_31);
        let y_35 = x_0 * z_4;
        let y_36 = f64::mul_add(y_35, p_34, x_0);
        y_36
    } else {
        let z_38 = f64::mul_add(ax_1, (-0.5_f64), 0.5_f64);
        let s_39 = f64::sqrt(z_38);
        let s2_40 = s_39 + s_39;
        let d_41 = -s_39;
        let d_42 = f64::mul_add(d_41, s_39, z_38);
        let sl_44 = z_38 == 0.0_f64;
        let sl_45 = d_42 / s2_40;
        let sl_46 = if sl_44 { 0.0_f64 } else { sl_45 };
        let p_p_47 = f64::mul_add(z_38, 0.0750000000000238_f64, 0.1666666666666666_f64);
        let p_p_48 = f64::mul_add(z_38, 0.03038194463734162_f64, 0.04464285713983368_f64);
        let p_p_49 = f64::mul_add(z_38, 0.017352940755564136_f64, 0.02237215182685557_f64);
        let p_p_50 = f64::mul_add(z_38, 0.011585361564814768_f64, 0.013961936699159325_f64);
        let p_p_51 = f64::mul_add(z_38, 0.009999197457967034_f64, 0.009486188354941496_f64);
        let p_p_52 = f64::mul_add(z_38, 0.024754367095698847_f64, 0.0007162490933790675_f64);
        let p_p_53 = f64::mul_add(z_38, 0.03359369715751051_f64, (-0.026059679950454596_f64));
        let p_z2_54 = z_38 * z_38;
        let p_p_55 = f64::mul_add(p_z2_54, p_p_48, p_p_47);
        let p_p_56 = f64::mul_add(p_z2_54, p_p_50, p_p_49);
        let p_p_57 = f64::mul_add(p_z2_54, p_p_52, p_p_51);
        let p_z4_58 = p_z2_54 * p_z2_54;
        let p_p_59 = f64::mul_add(p_z4_58, p_p_56, p_p_55);
        let p_p_60 = f64::mul_add(p_z4_58, p_p_53, p_p_57);
        let p_z8_61 = p_z4_58 * p_z4_58;
        let p_62 = f64::mul_add(p_z8_61, p_p_60, p_p_59);
        let c_63 = s_39 * z_38;
        let c_64 = f64::mul_add(c_63, p_62, sl_46);
        let h_65 = -s2_40;
        let h_67 = 1.5707963267948966_f64 + h_65;
        let e_68 = h_67 - 1.5707963267948966_f64;
        let e_69 = h_65 - e_68;
        let v_71 = e_69 + 6.123233995736766e-17_f64;
        let v_73 = f64::mul_add((-2.0_f64), c_64, v_71);
        let v_74 = h_67 + v_73;
        let y_75 = bits(v_74);
        let y_76 = bits(x_0);
        let y_78 = y_76 & (0x8000000000000000_u64 as i64);
        let y_79 = y_75 | y_78;
        let y_80 = f64::from_bits(y_79 as u64);
        y_80
    };
    y_81
}

/// `acos`: the inverse of the cosine, from 0 to pi (within 1 ulp).
#[inline(always)]
pub fn acos(x_0: f64) -> f64 {
    let ax_1 = f64::abs(x_0);
    let small_3 = ax_1 < 0.5_f64;
    let y_88 = if small_3 {
        let z_4 = x_0 * x_0;
        let p_p_7 = f64::mul_add(z_4, 0.0750000000000238_f64, 0.1666666666666666_f64);
        let p_p_10 = f64::mul_add(z_4, 0.03038194463734162_f64, 0.04464285713983368_f64);
        let p_p_13 = f64::mul_add(z_4, 0.017352940755564136_f64, 0.02237215182685557_f64);
        let p_p_16 = f64::mul_add(z_4, 0.011585361564814768_f64, 0.013961936699159325_f64);
        let p_p_19 = f64::mul_add(z_4, 0.009999197457967034_f64, 0.009486188354941496_f64);
        let p_p_22 = f64::mul_add(z_4, 0.024754367095698847_f64, 0.0007162490933790675_f64);
        let p_p_25 = f64::mul_add(z_4, 0.03359369715751051_f64, (-0.026059679950454596_f64));
        let p_z2_26 = z_4 * z_4;
        let p_p_27 = f64::mul_add(p_z2_26, p_p_10, p_p_7);
        let p_p_28 = f64::mul_add(p_z2_26, p_p_16, p_p_13);
        let p_p_29 = f64::mul_add(p_z2_26, p_p_22, p_p_19);
        let p_z4_30 = p_z2_26 * p_z2_26;
        let p_p_31 = f64::mul_add(p_z4_30, p_p_28, p_p_27);
        let p_p_32 = f64::mul_add(p_z4_30, p_p_25, p_p_29);
        let p_z8_33 = p_z4_30 * p_z4_30;
        let p_34 = f64::mul_add(p_z8_33, p_p_32, p_p_31);
        let c_35 = x_0 * z_4;
        let c_36 = c_35 * p_34;
        let h_37 = -x_0;
        let h_39 = 1.5707963267948966_f64 + h_37;
        let e_40 = h_39 - 1.5707963267948966_f64;
        let e_41 = h_37 - e_40;
        let y_43 = e_41 + 6.123233995736766e-17_f64;
        let y_44 = y_43 - c_36;
        let y_45 = h_39 + y_44;
        y_45
    } else {
        let z_47 = f64::mul_add(ax_1, (-0.5_f64), 0.5_f64);
        let s_48 = f64::sqrt(z_47);
        let s2_49 = s_48 + s_48;
        let d_50 = -s_48;
        let d_51 = f64::mul_add(d_50, s_48, z_47);
        let sl_53 = z_47 == 0.0_f64;
        let sl_54 = d_51 / s2_49;
        let sl_55 = if sl_53 { 0.0_f64 } else { sl_54 };
        let p_p_56 = f64::mul_add(z_47, 0.0750000000000238_f64, 0.1666666666666666_f64);
        let p_p_57 = f64::mul_add(z_47, 0.03038194463734162_f64, 0.04464285713983368_f64);
        let p_p_58 = f64::mul_add(z_47, 0.017352940755564136_f64, 0.02237215182685557_f64);
        let p_p_59 = f64::mul_add(z_47, 0.011585361564814768_f64, 0.013961936699159325_f64);
        let p_p_60 = f64::mul_add(z_47, 0.009999197457967034_f64, 0.009486188354941496_f64);
        let p_p_61 = f64::mul_add(z_47, 0.024754367095698847_f64, 0.0007162490933790675_f64);
        let p_p_62 = f64::mul_add(z_47, 0.03359369715751051_f64, (-0.026059679950454596_f64));
        let p_z2_63 = z_47 * z_47;
        let p_p_64 = f64::mul_add(p_z2_63, p_p_57, p_p_56);
        let p_p_65 = f64::mul_add(p_z2_63, p_p_59, p_p_58);
        let p_p_66 = f64::mul_add(p_z2_63, p_p_61, p_p_60);
        let p_z4_67 = p_z2_63 * p_z2_63;
        let p_p_68 = f64::mul_add(p_z4_67, p_p_65, p_p_64);
        let p_p_69 = f64::mul_add(p_z4_67, p_p_62, p_p_66);
        let p_z8_70 = p_z4_67 * p_z4_67;
        let p_71 = f64::mul_add(p_z8_70, p_p_69, p_p_68);
        let c_72 = s_48 * z_47;
        let c_73 = f64::mul_add(c_72, p_71, sl_55);
        let right_75 = f64::mul_add(2.0_f64, c_73, s2_49);
        let h_76 = -s2_49;
        let h_78 = 3.141592653589793_f64 + h_76;
        let e_79 = h_78 - 3.141592653589793_f64;
        let e_80 = h_76 - e_79;
        let left_82 = e_80 + 1.2246467991473532e-16_f64;
        let left_84 = f64::mul_add((-2.0_f64), c_73, left_82);
        let left_85 = h_78 + left_84;
        let y_86 = x_0 < 0.0_f64;
        let y_87 = if y_86 { left_85 } else { right_75 };
        y_87
    };
    y_88
}

/// `atan`: the inverse of the tangent, from -pi/2 to pi/2 (within 1 ulp).
#[inline(always)]
pub fn atan(x_0: f64) -> f64 {
    let ax_1 = f64::abs(x_0);
    let near_3 = ax_1 < 0.41421356237309503_f64;
    let far_5 = ax_1 > 2.414213562373095_f64;
    let y_100 = if near_3 {
        let z_6 = x_0 * x_0;
        let xz_8 = f64::mul_add(x_0, z_6, 0.0_f64);
        let p_p_11 = f64::mul_add(z_6, 0.19999999999997262_f64, (-0.33333333333333326_f64));
        let p_p_14 = f64::mul_add(z_6, 0.11111111086167502_f64, (-0.14285714285348441_f64));
        let p_p_17 = f64::mul_add(z_6, 0.0769228156480166_f64, (-0.09090908083372014_f64));
        let p_p_20 = f64::mul_add(z_6, 0.05876886724734886_f64, (-0.06666211267974573_f64));
        let p_p_23 = f64::mul_add(z_6, 0.04500659674695582_f64, (-0.052176217294242905_f64));
        let p_p_26 = f64::mul_add(z_6, 0.015137646106519303_f64, (-0.03341292450526872_f64));
        let p_z2_27 = z_6 * z_6;
        let p_p_28 = f64::mul_add(p_z2_27, p_p_14, p_p_11);
        let p_p_29 = f64::mul_add(p_z2_27, p_p_20, p_p_17);
        let p_p_30 = f64::mul_add(p_z2_27, p_p_26, p_p_23);
        let p_z4_31 = p_z2_27 * p_z2_27;
        let p_p_32 = f64::mul_add(p_z4_31, p_p_29, p_p_28);
        let p_z8_33 = p_z4_31 * p_z4_31;
        let p_34 = f64::mul_add(p_z8_33, p_p_30, p_p_32);
        let y_35 = xz_8 * p_34;
        let y_36 = x_0 + y_35;
        y_36
    } else {
        let n0_38 = ax_1 + (-1.0_f64);
        let bb_39 = n0_38 - ax_1;
        let n0l_40 = n0_38 - bb_39;
        let n0l_41 = ax_1 - n0l_40;
        let n0l_42 = (-1.0_f64) - bb_39;
        let n0l_43 = n0l_41 + n0l_42;
        let d0_45 = ax_1 + 1.0_f64;
        let bb_46 = d0_45 - ax_1;
        let d0l_47 = d0_45 - bb_46;
        let d0l_48 = ax_1 - d0l_47;
        let d0l_49 = 1.0_f64 - bb_46;
        let d0l_50 = d0l_48 + d0l_49;
        let nh_51 = if far_5 { (-1.0_f64) } else { n0_38 };
        let nl_52 = if far_5 { 0.0_f64 } else { n0l_43 };
        let dh_53 = if far_5 { ax_1 } else { d0_45 };
        let dl_54 = if far_5 { 0.0_f64 } else { d0l_50 };
        let t_55 = nh_51 / dh_53;
        let d_56 = -t_55;
        let d_57 = -t_55;
        let d_58 = f64::mul_add(d_57, dh_53, nh_51);
        let d_59 = nl_52 + d_58;
        let d_60 = f64::mul_add(d_56, dl_54, d_59);
        let tl_62 = ax_1 < 1e17_f64;
        let tl_63 = d_60 / dh_53;
        let tl_64 = if tl_62 { tl_63 } else { 0.0_f64 };
        let off_67 = if far_5 { 1.5707963267948966_f64 } else { 0.7853981633974483_f64 };
        let offl_70 = if far_5 { 6.123233995736766e-17_f64 } else { 3.061616997868383e-17_f64 };
        let z_71 = t_55 * t_55;
        let p_p_72 = f64::mul_add(z_71, 0.19999999999997262_f64, (-0.33333333333333326_f64));
        let p_p_73 = f64::mul_add(z_71, 0.11111111086167502_f64, (-0.14285714285348441_f64));
        let p_p_74 = f64::mul_add(z_71, 0.0769228156480166_f64, (-0.09090908083372014_f64));
        let p_p_75 = f64::mul_add(z_71, 0.05876886724734886_f64, (-0.06666211267974573_f64));
        let p_p_76 = f64::mul_add(z_71, 0.04500659674695582_f64, (-0.052176217294242905_f64));
        let p_p_77 = f64::mul_add(z_71, 0.015137646106519303_f64, (-0.03341292450526872_f64));
        let p_z2_78 = z_71 * z_71;
        let p_p_79 = f64::mul_add(p_z2_78, p_p_73, p_p_72);
        let p_p_80 = f64::mul_add(p_z2_78, p_p_75, p_p_74);
        let p_p_81 = f64::mul_add(p_z2_78, p_p_77, p_p_76);
        let p_z4_82 = p_z2_78 * p_z2_78;
        let p_p_83 = f64::mul_add(p_z4_82, p_p_80, p_p_79);
        let p_z8_84 = p_z4_82 * p_z4_82;
        let p_85 = f64::mul_add(p_z8_84, p_p_81, p_p_83);
        let c_86 = t_55 * z_71;
        let c_87 = f64::mul_add(c_86, p_85, tl_64);
        let s_88 = off_67 + t_55;
        let e_89 = s_88 - off_67;
        let e_90 = t_55 - e_89;
        let v_91 = e_90 + offl_70;
        let v_92 = v_91 + c_87;
        let v_93 = s_88 + v_92;
        let y_94 = bits(v_93);
        let y_95 = bits(x_0);
        let y_97 = y_95 & (0x8000000000000000_u64 as i64);
        let y_98 = y_94 | y_97;
        let y_99 = f64::from_bits(y_98 as u64);
        y_99
    };
    y_100
}

/// `atan2`: the angle of the point with height a and width b, from -pi to pi (within 1 ulp).
#[inline(always)]
pub fn atan2(y_0: f64, x_1: f64) -> f64 {
    let a0_2 = f64::abs(y_0);
    let b0_3 = f64::abs(x_1);
    let ainf_5 = a0_2 == f64::INFINITY;
    let binf_6 = b0_3 == f64::INFINITY;
    let bothinf_7 = ainf_5 & binf_6;
    let a1_9 = if bothinf_7 { 1.0_f64 } else { a0_2 };
    let b1_10 = if bothinf_7 { 1.0_f64 } else { b0_3 };
    let left_11 = bits(x_1);
    let left_13 = left_11 < 0_i64;
    let tiny_15 = b1_10 * 9.313225746154785e-10_f64;
    let tiny_16 = a1_9 < tiny_15;
    let tiny_18 = a1_9 == 0.0_f64;
    let tiny_19 = tiny_16 | tiny_18;
    let v_132 = if tiny_19 {
        let bz_20 = b1_10 == 0.0_f64;
        let bz_21 = if bz_20 { 1.0_f64 } else { b1_10 };
        let t0_22 = a1_9 / bz_21;
        let v_24 = 3.141592653589793_f64 - t0_22;
        let v_25 = if left_13 { v_24 } else { t0_22 };
        v_25
    } else {
        let big_27 = a1_9 > 3.273390607896142e150_f64;
        let big_28 = b1_10 > 3.273390607896142e150_f64;
        let big_29 = big_27 | big_28;
        let low_31 = a1_9 < 3.8725919148493183e-121_f64;
        let low_32 = b1_10 < 3.8725919148493183e-121_f64;
        let low_33 = low_31 & low_32;
        let s0_35 = if big_29 { 2.409919865102884e-181_f64 } else { 1.0_f64 };
        let sc_37 = if low_33 { 4.149515568880993e180_f64 } else { s0_35 };
        let a_38 = a1_9 * sc_37;
        let b_39 = b1_10 * sc_37;
        let far_41 = b_39 * 2.414213562373095_f64;
        let far_42 = a_38 > far_41;
        let near_44 = b_39 * 0.41421356237309503_f64;
        let near_45 = a_38 < near_44;
        let n1_46 = -b_39;
        let n1_47 = a_38 + n1_46;
        let bb_48 = n1_47 - a_38;
        let n1l_49 = n1_47 - bb_48;
        let n1l_50 = a_38 - n1l_49;
        let n1l_51 = n1_46 - bb_48;
        let n1l_52 = n1l_50 + n1l_51;
        let d1_53 = a_38 + b_39;
        let bb_54 = d1_53 - a_38;
        let d1l_55 = d1_53 - bb_54;
        let d1l_56 = a_38 - d1l_55;
        let d1l_57 = b_39 - bb_54;
        let d1l_58 = d1l_56 + d1l_57;
        let edge_59 = near_45 | far_42;
        let ns_60 = -b_39;
        let ns_61 = if near_45 { a_38 } else { ns_60 };
        let nh_62 = if edge_59 { ns_61 } else { n1_47 };
        let nl_63 = if edge_59 { 0.0_f64 } else { n1l_52 };
        let ds_64 = if near_45 { b_39 } else { a_38 };
        let dh_65 = if edge_59 { ds_64 } else { d1_53 };
        let dl_66 = if edge_59 { 0.0_f64 } else { d1l_58 };
        let t_67 = nh_62 / dh_65;
        let d_68 = -t_67;
        let d_69 = -t_67;
        let d_70 = f64::mul_add(d_69, dh_65, nh_62);
        let d_71 = nl_63 + d_70;
        let d_72 = f64::mul_add(d_68, dl_66, d_71);
        let tl0_73 = d_72 / dh_65;
        let tl_74 = f64::abs(t_67);
        let tl_76 = tl_74 < 1e-18_f64;
        let tl_77 = if tl_76 { 0.0_f64 } else { tl0_73 };
        let o1_78 = if left_13 { 3.141592653589793_f64 } else { 0.0_f64 };
        let o1l_80 = if left_13 { 1.2246467991473532e-16_f64 } else { 0.0_f64 };
        let o2_83 = if left_13 { 2.356194490192345_f64 } else { 0.7853981633974483_f64 };
        let o2l_86 = if left_13 { 9.184850993605148e-17_f64 } else { 3.061616997868383e-17_f64 };
        let oa_87 = if near_45 { o1_78 } else { o2_83 };
        let oal_88 = if near_45 { o1l_80 } else { o2l_86 };
        let off_90 = if far_42 { 1.5707963267948966_f64 } else { oa_87 };
        let offl_92 = if far_42 { 6.123233995736766e-17_f64 } else { oal_88 };
        let ts_93 = -t_67;
        let ts_94 = if left_13 { ts_93 } else { t_67 };
        let tls_95 = -tl_77;
        let tls_96 = if left_13 { tls_95 } else { tl_77 };
        let z_97 = ts_94 * ts_94;
        let p_p_100 = f64::mul_add(z_97, 0.19999999999997262_f64, (-0.33333333333333326_f64));
        let p_p_103 = f64::mul_add(z_97, 0.11111111086167502_f64, (-0.14285714285348441_f64));
        let p_p_106 = f64::mul_add(z_97, 0.0769228156480166_f64, (-0.09090908083372014_f64));
        let p_p_109 = f64::mul_add(z_97, 0.05876886724734886_f64, (-0.06666211267974573_f64));
        let p_p_112 = f64::mul_add(z_97, 0.04500659674695582_f64, (-0.052176217294242905_f64));
        let p_p_115 = f64::mul_add(z_97, 0.015137646106519303_f64, (-0.03341292450526872_f64));
        let p_z2_116 = z_97 * z_97;
        let p_p_117 = f64::mul_add(p_z2_116, p_p_103, p_p_100);
        let p_p_118 = f64::mul_add(p_z2_116, p_p_109, p_p_106);
        let p_p_119 = f64::mul_add(p_z2_116, p_p_115, p_p_112);
        let p_z4_120 = p_z2_116 * p_z2_116;
        let p_p_121 = f64::mul_add(p_z4_120, p_p_118, p_p_117);
        let p_z8_122 = p_z4_120 * p_z4_120;
        let p_123 = f64::mul_add(p_z8_122, p_p_119, p_p_121);
        let c_124 = ts_94 * z_97;
        let c_125 = f64::mul_add(c_124, p_123, tls_96);
        let s_126 = off_90 + ts_94;
        let e_127 = s_126 - off_90;
        let e_128 = ts_94 - e_127;
        let v_129 = e_128 + offl_92;
        let v_130 = v_129 + c_125;
        let v_131 = s_126 + v_130;
        v_131
    };
    let w_133 = bits(v_132);
    let w_134 = bits(y_0);
    let w_136 = w_134 & (0x8000000000000000_u64 as i64);
    let w_137 = w_133 | w_136;
    let w_138 = f64::from_bits(w_137 as u64);
    let isnan_139 = x_1 != x_1;
    let isnan_140 = y_0 != y_0;
    let isnan_141 = isnan_139 | isnan_140;
    let y_143 = if isnan_141 { f64::NAN } else { w_138 };
    y_143
}

/// `sinh`: the hyperbolic sine (within 1 ulp).
#[inline(always)]
pub fn sinh(x_0: f64) -> f64 {
    let ax_1 = f64::abs(x_0);
    let small_3 = ax_1 < 1.0_f64;
    let y_92 = if small_3 {
        let z_4 = x_0 * x_0;
        let p_p_7 = f64::mul_add(z_4, 0.00833333333333297_f64, 0.16666666666666669_f64);
        let p_p_10 = f64::mul_add(z_4, 2.7557319130344088e-6_f64, 0.0001984126984153126_f64);
        let p_p_13 = f64::mul_add(z_4, 1.605699978759014e-10_f64, 2.5052126863862458e-8_f64);
        let p_z2_14 = z_4 * z_4;
        let p_p_15 = f64::mul_add(p_z2_14, p_p_10, p_p_7);
        let p_p_17 = f64::mul_add(p_z2_14, 7.76592274478511e-13_f64, p_p_13);
        let p_z4_18 = p_z2_14 * p_z2_14;
        let p_19 = f64::mul_add(p_z4_18, p_p_17, p_p_15);
        let y_20 = x_0 * z_4;
        let y_21 = f64::mul_add(y_20, p_19, x_0);
        y_21
    } else {
        let a_23 = ax_1 < 710.6_f64;
        let a_24 = if a_23 { ax_1 } else { 710.6_f64 };
        let kd_27 = f64::mul_add(a_24, 1.4426950408889634_f64, 6755399441055744.0_f64);
        let n_28 = kd_27 - 6755399441055744.0_f64;
        let rh_30 = f64::mul_add(n_28, (-0.6931471805599453_f64), a_24);
        let r_32 = f64::mul_add(n_28, (-2.3190468138462996e-17_f64), rh_30);
        let rl_33 = rh_30 - r_32;
        let rl_34 = f64::mul_add(n_28, (-2.3190468138462996e-17_f64), rl_33);
        let r2_35 = r_32 * r_32;
        let q_p_38 = f64::mul_add(r_32, 0.1666666666666642_f64, 0.5000000000000011_f64);
        let q_p_41 = f64::mul_add(r_32, 0.008333333333490218_f64, 0.041666666666526596_f64);
        let q_p_44 = f64::mul_add(r_32, 0.0001984126951649935_f64, 0.001388888894451334_f64);
        let q_p_47 = f64::mul_add(r_32, 2.7557576800090774e-6_f64, 2.480149221124442e-5_f64);
        let q_p_50 = f64::mul_add(r_32, 2.5003327706230185e-8_f64, 2.7630560280471973e-7_f64);
        let q_z2_51 = r_32 * r_32;
        let q_p_52 = f64::mul_add(q_z2_51, q_p_41, q_p_38);
        let q_p_53 = f64::mul_add(q_z2_51, q_p_47, q_p_44);
        let q_z4_54 = q_z2_51 * q_z2_51;
        let q_p_55 = f64::mul_add(q_z4_54, q_p_53, q_p_52);
        let q_z8_56 = q_z4_54 * q_z4_54;
        let q_57 = f64::mul_add(q_z8_56, q_p_50, q_p_55);
        let head_58 = r_32 + 1.0_f64;
        let err_59 = head_58 - 1.0_f64;
        let err_60 = r_32 - err_59;
        let tail_61 = f64::mul_add(rl_34, r_32, rl_34);
        let tail_62 = err_60 + tail_61;
        let tail_63 = f64::mul_add(r2_35, q_57, tail_62);
        let sc_64 = bits(kd_27);
        let sc_66 = i64::wrapping_sub(sc_64, 2_i64);
        let sc_68 = i64::wrapping_shl(sc_66, 52);
        let sc_70 = i64::wrapping_add(sc_68, 0x3ff0000000000000_i64);
        let sc_71 = f64::from_bits(sc_70 as u64);
        let h_72 = sc_71 * head_58;
        let l_73 = sc_71 * tail_63;
        let inv_74 = h_72 + l_73;
        let inv_76 = 0.0625_f64 / inv_74;
        let s_77 = -inv_76;
        let s_78 = h_72 + s_77;
        let e_79 = s_78 - h_72;
        let e_80 = s_77 - e_79;
        let half_81 = e_80 + l_73;
        let half_82 = s_78 + half_81;
        let v_83 = half_82 + half_82;
        let v_84 = bits(v_83);
        let v_85 = bits(x_0);
        let v_87 = v_85 & (0x8000000000000000_u64 as i64);
        let v_88 = v_84 | v_87;
        let v_89 = f64::from_bits(v_88 as u64);
        let y_90 = x_0 != x_0;
        let y_91 = if y_90 { x_0 } else { v_89 };
        y_91
    };
    y_92
}

/// `cosh`: the hyperbolic cosine (within 1 ulp).
#[inline(always)]
pub fn cosh(x_0: f64) -> f64 {
    let ax_1 = f64::abs(x_0);
    let a_3 = ax_1 < 710.6_f64;
    let a_4 = if a_3 { ax_1 } else { 710.6_f64 };
    let kd_7 = f64::mul_add(a_4, 1.4426950408889634_f64, 6755399441055744.0_f64);
    let n_8 = kd_7 - 6755399441055744.0_f64;
    let rh_10 = f64::mul_add(n_8, (-0.6931471805599453_f64), a_4);
    let r_12 = f64::mul_add(n_8, (-2.3190468138462996e-17_f64), rh_10);
    let rl_13 = rh_10 - r_12;
    let rl_14 = f64::mul_add(n_8, (-2.3190468138462996e-17_f64), rl_13);
    let r2_15 = r_12 * r_12;
    let q_p_18 = f64::mul_add(r_12, 0.1666666666666642_f64, 0.5000000000000011_f64);
    let q_p_21 = f64::mul_add(r_12, 0.008333333333490218_f64, 0.041666666666526596_f64);
    let q_p_24 = f64::mul_add(r_12, 0.0001984126951649935_f64, 0.001388888894451334_f64);
    let q_p_27 = f64::mul_add(r_12, 2.7557576800090774e-6_f64, 2.480149221124442e-5_f64);
    let q_p_30 = f64::mul_add(r_12, 2.5003327706230185e-8_f64, 2.7630560280471973e-7_f64);
    let q_z2_31 = r_12 * r_12;
    let q_p_32 = f64::mul_add(q_z2_31, q_p_21, q_p_18);
    let q_p_33 = f64::mul_add(q_z2_31, q_p_27, q_p_24);
    let q_z4_34 = q_z2_31 * q_z2_31;
    let q_p_35 = f64::mul_add(q_z4_34, q_p_33, q_p_32);
    let q_z8_36 = q_z4_34 * q_z4_34;
    let q_37 = f64::mul_add(q_z8_36, q_p_30, q_p_35);
    let head_39 = r_12 + 1.0_f64;
    let err_40 = head_39 - 1.0_f64;
    let err_41 = r_12 - err_40;
    let tail_42 = f64::mul_add(rl_14, r_12, rl_14);
    let tail_43 = err_41 + tail_42;
    let tail_44 = f64::mul_add(r2_15, q_37, tail_43);
    let sc_45 = bits(kd_7);
    let sc_47 = i64::wrapping_sub(sc_45, 2_i64);
    let sc_49 = i64::wrapping_shl(sc_47, 52);
    let sc_51 = i64::wrapping_add(sc_49, 0x3ff0000000000000_i64);
    let sc_52 = f64::from_bits(sc_51 as u64);
    let h_53 = sc_52 * head_39;
    let l_54 = sc_52 * tail_44;
    let v_55 = h_53 + l_54;
    let vl_56 = h_53 - v_55;
    let vl_57 = vl_56 + l_54;
    let i0_59 = 0.0625_f64 / v_55;
    let d_60 = -i0_59;
    let d_61 = -i0_59;
    let d_62 = f64::mul_add(d_61, v_55, 0.0625_f64);
    let d_63 = f64::mul_add(d_60, vl_57, d_62);
    let il_64 = i0_59 * d_63;
    let il_66 = il_64 * 16.0_f64;
    let s_67 = v_55 + i0_59;
    let e_68 = s_67 - v_55;
    let e_69 = i0_59 - e_68;
    let half_70 = vl_57 + il_66;
    let half_71 = e_69 + half_70;
    let half_72 = s_67 + half_71;
    let y_73 = half_72 + half_72;
    let y_74 = x_0 != x_0;
    let y_75 = if y_74 { x_0 } else { y_73 };
    y_75
}

/// `asinh`: the inverse of the hyperbolic sine (within 1 ulp).
#[inline(always)]
pub fn asinh(x_0: f64) -> f64 {
    let ax_1 = f64::abs(x_0);
    let usual_3 = ax_1 >= 9.5367431640625e-7_f64;
    let usual_5 = ax_1 < f64::INFINITY;
    let usual_6 = usual_3 & usual_5;
    let y_58 = if usual_6 {
        let far_8 = ax_1 >= 1073741824.0_f64;
        let a_10 = if far_8 { 1.0_f64 } else { ax_1 };
        let q_11 = a_10 * a_10;
        let ql_12 = -q_11;
        let ql_13 = f64::mul_add(a_10, a_10, ql_12);
        let h_14 = 1.0_f64 + q_11;
        let bb_15 = h_14 - 1.0_f64;
        let hl_16 = h_14 - bb_15;
        let hl_17 = 1.0_f64 - hl_16;
        let hl_18 = q_11 - bb_15;
        let hl_19 = hl_17 + hl_18;
        let s_20 = hl_19 + ql_13;
        let s_21 = f64::sqrt(h_14);
        let d_22 = -s_21;
        let d_23 = f64::mul_add(d_22, s_21, h_14);
        let d_24 = d_23 + s_20;
        let sl_25 = s_21 + s_21;
        let sl_26 = d_24 / sl_25;
        let u_27 = a_10 + s_21;
        let bb_28 = u_27 - a_10;
        let u0_29 = u_27 - bb_28;
        let u0_30 = a_10 - u0_29;
        let u0_31 = s_21 - bb_28;
        let u0_32 = u0_30 + u0_31;
        let ul_33 = u0_32 + sl_26;
        let hi_35 = ax_1 * 9.313225746154785e-10_f64;
        let hi_36 = if far_8 { hi_35 } else { u_27 };
        let lo_38 = if far_8 { 0.0_f64 } else { ul_33 };
        let add_40 = if far_8 { 31.0_f64 } else { 0.0_f64 };
        let (lh_41, ll_42) = log_pair(hi_36, lo_38, add_40);
        let v_43 = lh_41 + ll_42;
        let y_44 = bits(v_43);
        let y_45 = bits(x_0);
        let y_47 = y_45 & (0x8000000000000000_u64 as i64);
        let y_48 = y_44 | y_47;
        let y_49 = f64::from_bits(y_48 as u64);
        y_49
    } else {
        let t_50 = x_0 * x_0;
        let t_52 = x_0 * (-0.16666666666666666_f64);
        let t_53 = f64::mul_add(t_50, t_52, x_0);
        let far_54 = ax_1 > 1.0_f64;
        let far_55 = ax_1 == 0.0_f64;
        let far_56 = far_54 | far_55;
        let y_57 = if far_56 { x_0 } else { t_53 };
        y_57
    };
    y_58
}

/// `acosh`: the inverse of the hyperbolic cosine, for x >= 1 (within 1 ulp).
#[inline(always)]
pub fn acosh(x_0: f64) -> f64 {
    let usual_2 = x_0 > 1.0_f64;
    let usual_4 = x_0 < f64::INFINITY;
    let usual_5 = usual_2 & usual_4;
    let y_49 = if usual_5 {
        let far_7 = x_0 >= 1073741824.0_f64;
        let a_9 = if far_7 { 2.0_f64 } else { x_0 };
        let q_10 = a_9 * a_9;
        let ql_11 = -q_10;
        let ql_12 = f64::mul_add(a_9, a_9, ql_11);
        let h_14 = q_10 + (-1.0_f64);
        let bb_15 = h_14 - q_10;
        let hl_16 = h_14 - bb_15;
        let hl_17 = q_10 - hl_16;
        let hl_18 = (-1.0_f64) - bb_15;
        let hl_19 = hl_17 + hl_18;
        let g_20 = hl_19 + ql_12;
        let g_21 = h_14 + g_20;
        let gl_22 = g_21 - h_14;
        let gl_23 = g_20 - gl_22;
        let s_24 = f64::sqrt(g_21);
        let d_25 = -s_24;
        let d_26 = f64::mul_add(d_25, s_24, g_21);
        let d_27 = d_26 + gl_23;
        let sl_28 = s_24 + s_24;
        let sl_29 = d_27 / sl_28;
        let u_30 = a_9 + s_24;
        let u0_31 = u_30 - a_9;
        let u0_32 = s_24 - u0_31;
        let ul_33 = u0_32 + sl_29;
        let hi_35 = x_0 * 9.313225746154785e-10_f64;
        let hi_36 = if far_7 { hi_35 } else { u_30 };
        let lo_38 = if far_7 { 0.0_f64 } else { ul_33 };
        let add_40 = if far_7 { 31.0_f64 } else { 0.0_f64 };
        let (lh_41, ll_42) = log_pair(hi_36, lo_38, add_40);
        let y_43 = lh_41 + ll_42;
        y_43
    } else {
        let y0_44 = x_0 < 1.0_f64;
        let y0_46 = if y0_44 { f64::NAN } else { x_0 };
        let y_47 = x_0 == 1.0_f64;
        let y_48 = if y_47 { 0.0_f64 } else { y0_46 };
        y_48
    };
    y_49
}

/// `atanh`: the inverse of the hyperbolic tangent, for -1 <= x <= 1 (within 1 ulp).
#[inline(always)]
pub fn atanh(x_0: f64) -> f64 {
    let ax_1 = f64::abs(x_0);
    let usual_3 = ax_1 >= 9.5367431640625e-7_f64;
    let usual_5 = ax_1 < 1.0_f64;
    let usual_6 = usual_3 & usual_5;
    let y_46 = if usual_6 {
        let n_7 = 1.0_f64 + ax_1;
        let nl_8 = n_7 - 1.0_f64;
        let nl_9 = ax_1 - nl_8;
        let d_10 = -ax_1;
        let d_11 = 1.0_f64 + d_10;
        let dl_12 = d_11 - 1.0_f64;
        let dl_13 = d_10 - dl_12;
        let q_14 = n_7 / d_11;
        let e_15 = -q_14;
        let e_16 = -q_14;
        let e_17 = f64::mul_add(e_16, d_11, n_7);
        let e_18 = nl_9 + e_17;
        let e_19 = f64::mul_add(e_15, dl_13, e_18);
        let ql_20 = e_19 / d_11;
        let (lh_22, ll_23) = log_pair(q_14, ql_20, 0.0_f64);
        let v_24 = lh_22 + ll_23;
        let v_26 = v_24 * 0.5_f64;
        let y_27 = bits(v_26);
        let y_28 = bits(x_0);
        let y_30 = y_28 & (0x8000000000000000_u64 as i64);
        let y_31 = y_27 | y_30;
        let y_32 = f64::from_bits(y_31 as u64);
        y_32
    } else {
        let t_33 = x_0 * x_0;
        let t_35 = x_0 * 0.3333333333333333_f64;
        let t_36 = f64::mul_add(t_33, t_35, x_0);
        let y0_37 = x_0 == 0.0_f64;
        let y0_38 = if y0_37 { x_0 } else { t_36 };
        let y1_39 = ax_1 == 1.0_f64;
        let y1_41 = x_0 * f64::INFINITY;
        let y1_42 = if y1_39 { y1_41 } else { y0_38 };
        let y_43 = ax_1 > 1.0_f64;
        let y_45 = if y_43 { f64::NAN } else { y1_42 };
        y_45
    };
    y_46
}

/// `pow`: a to the power b; NaN for negative a unless b is an integer (within 1.5 ulp).
#[inline(always)]
pub fn pow(a_0: f64, b_1: f64) -> f64 {
    let aa_2 = f64::abs(a_0);
    let isint_3 = f64::floor(b_1);
    let isint_4 = isint_3 == b_1;
    let hb_6 = b_1 * 0.5_f64;
    let oddb_7 = f64::floor(hb_6);
    let oddb_8 = oddb_7 != hb_6;
    let oddb_9 = isint_4 & oddb_8;
    let usual_11 = aa_2 > 0.0_f64;
    let usual_13 = aa_2 < f64::INFINITY;
    let usual_14 = usual_11 & usual_13;
    let usual_15 = f64::abs(b_1);
    let usual_16 = usual_15 < f64::INFINITY;
    let usual_17 = usual_14 & usual_16;
    let mag_46 = if usual_17 {
        let v_18 = pow_core(aa_2, b_1, 0.0_f64);
        let bad_19 = a_0 < 0.0_f64;
        let bad_20 = !isint_4;
        let bad_21 = bad_19 & bad_20;
        let mag_23 = if bad_21 { f64::NAN } else { v_18 };
        mag_23
    } else {
        let up_25 = aa_2 > 1.0_f64;
        let pos_26 = b_1 > 0.0_f64;
        let both_27 = up_25 & pos_26;
        let neither_28 = !up_25;
        let neither_29 = !pos_26;
        let neither_30 = neither_28 & neither_29;
        let w_31 = both_27 | neither_30;
        let w_32 = if w_31 { f64::INFINITY } else { 0.0_f64 };
        let one_33 = aa_2 == 1.0_f64;
        let one_34 = f64::abs(b_1);
        let one_35 = one_34 == f64::INFINITY;
        let one_36 = one_33 & one_35;
        let one_37 = b_1 == 0.0_f64;
        let one_38 = a_0 == 1.0_f64;
        let one_39 = one_37 | one_38;
        let one_40 = one_36 | one_39;
        let isnan_41 = a_0 != a_0;
        let isnan_42 = b_1 != b_1;
        let isnan_43 = isnan_41 | isnan_42;
        let w1_44 = if isnan_43 { f64::NAN } else { w_32 };
        let mag_45 = if one_40 { 1.0_f64 } else { w1_44 };
        mag_45
    };
    let sgn_47 = bits(a_0);
    let sgn_49 = sgn_47 & (0x8000000000000000_u64 as i64);
    let sgn_51 = if oddb_9 { sgn_49 } else { 0_i64 };
    let y_52 = bits(mag_46);
    let y_53 = y_52 | sgn_51;
    let y_54 = f64::from_bits(y_53 as u64);
    y_54
}

/// `powi`: x to an integer power; 0^0 is 1 (within 1.5 ulp).
#[inline(always)]
pub fn powi(x_0: f64, n_1: i64) -> f64 {
    let few_3 = n_1 >= (-1_i64);
    let few_5 = n_1 <= 3_i64;
    let few_6 = few_3 & few_5;
    let y_46 = if few_6 {
        let x2_7 = x_0 * x_0;
        let x3_8 = x2_7 * x_0;
        let y2_10 = n_1 == 2_i64;
        let y2_11 = if y2_10 { x2_7 } else { x3_8 };
        let y1_13 = n_1 == 1_i64;
        let y1_14 = if y1_13 { x_0 } else { y2_11 };
        let y0_16 = n_1 == 0_i64;
        let y0_18 = if y0_16 { 1.0_f64 } else { y1_14 };
        let when_19 = n_1 < 0_i64;
        let y_21 = if when_19 {
            let y_20 = 1.0_f64 / x_0;
            y_20
        } else {
            y0_18
        };
        y_21
    } else {
        let nh_22 = n_1 as f64;
        let nl_23 = nh_22 as i64;
        let nl_24 = i64::wrapping_sub(n_1, nl_23);
        let nl_25 = nl_24 as f64;
        let ax_26 = f64::abs(x_0);
        let usual_28 = ax_26 > 0.0_f64;
        let usual_30 = ax_26 < f64::INFINITY;
        let usual_31 = usual_28 & usual_30;
        let mag_36 = if usual_31 {
            let mag_32 = pow_core(ax_26, nh_22, nl_25);
            mag_32
        } else {
            let mag_33 = n_1 < 0_i64;
            let mag_34 = 1.0_f64 / ax_26;
            let mag_35 = if mag_33 { mag_34 } else { ax_26 };
            mag_35
        };
        let sgn_37 = n_1 & 1_i64;
        let sgn_38 = sgn_37 != 0_i64;
        let sgn_39 = bits(x_0);
        let sgn_41 = sgn_39 & (0x8000000000000000_u64 as i64);
        let sgn_42 = if sgn_38 { sgn_41 } else { 0_i64 };
        let y_43 = bits(mag_36);
        let y_44 = y_43 | sgn_42;
        let y_45 = f64::from_bits(y_44 as u64);
        y_45
    };
    y_46
}

/// `hypot`: the root of a^2 + b^2, without overflow (within 1 ulp).
#[inline(always)]
pub fn hypot(a_0: f64, b_1: f64) -> f64 {
    let aa_2 = f64::abs(a_0);
    let ab_3 = f64::abs(b_1);
    let less_4 = aa_2 < ab_3;
    let h0_5 = if less_4 { ab_3 } else { aa_2 };
    let l0_6 = if less_4 { aa_2 } else { ab_3 };
    let big_8 = h0_5 > 3.273390607896142e150_f64;
    let low_10 = h0_5 < 3.8725919148493183e-121_f64;
    let s0_13 = if big_8 { 2.409919865102884e-181_f64 } else { 1.0_f64 };
    let sc_15 = if low_10 { 4.149515568880993e180_f64 } else { s0_13 };
    let u0_16 = if big_8 { 4.149515568880993e180_f64 } else { 1.0_f64 };
    let us_17 = if low_10 { 2.409919865102884e-181_f64 } else { u0_16 };
    let h_18 = h0_5 * sc_15;
    let l_19 = l0_6 * sc_15;
    let p_20 = h_18 * h_18;
    let pe_21 = -p_20;
    let pe_22 = f64::mul_add(h_18, h_18, pe_21);
    let q_23 = l_19 * l_19;
    let qe_24 = -q_23;
    let qe_25 = f64::mul_add(l_19, l_19, qe_24);
    let s_26 = p_20 + q_23;
    let e_27 = s_26 - p_20;
    let e_28 = q_23 - e_27;
    let sl_29 = pe_22 + qe_25;
    let sl_30 = e_28 + sl_29;
    let r_31 = f64::sqrt(s_26);
    let d_32 = -r_31;
    let d_33 = f64::mul_add(d_32, r_31, s_26);
    let d_34 = d_33 + sl_30;
    let c_35 = r_31 + r_31;
    let c_36 = d_34 / c_35;
    let v_37 = r_31 + c_36;
    let v_38 = v_37 * us_17;
    let usual_40 = h0_5 > 0.0_f64;
    let usual_42 = h0_5 < f64::INFINITY;
    let usual_43 = usual_40 & usual_42;
    let w_44 = h0_5 + l0_6;
    let w_45 = if usual_43 { v_38 } else { w_44 };
    let isinf_46 = aa_2 == f64::INFINITY;
    let isinf_47 = ab_3 == f64::INFINITY;
    let isinf_48 = isinf_46 | isinf_47;
    let y_49 = if isinf_48 { f64::INFINITY } else { w_45 };
    y_49
}

/// `logaddexp`: log(e^a + e^b), without overflow (within 2 ulp).
#[inline(always)]
pub fn logaddexp(a_0: f64, b_1: f64) -> f64 {
    let less_2 = a_0 < b_1;
    let m_3 = if less_2 { b_1 } else { a_0 };
    let o_4 = if less_2 { a_0 } else { b_1 };
    let d0_5 = -o_4;
    let d0_6 = m_3 + d0_5;
    let bb_7 = d0_6 - m_3;
    let dl0_8 = d0_6 - bb_7;
    let dl0_9 = m_3 - dl0_8;
    let dl0_10 = d0_5 - bb_7;
    let dl0_11 = dl0_9 + dl0_10;
    let fin_13 = d0_6 < 800.0_f64;
    let d_14 = -d0_6;
    let d_16 = if fin_13 { d_14 } else { (-800.0_f64) };
    let dl_17 = -dl0_11;
    let dl_19 = if fin_13 { dl_17 } else { 0.0_f64 };
    let kd_22 = f64::mul_add(d_16, 1.4426950408889634_f64, 6755399441055744.0_f64);
    let n_23 = kd_22 - 6755399441055744.0_f64;
    let rh_25 = f64::mul_add(n_23, (-0.6931471805599453_f64), d_16);
    let q_27 = f64::mul_add(n_23, (-2.3190468138462996e-17_f64), dl_19);
    let r_28 = rh_25 + q_27;
    let bb_29 = r_28 - rh_25;
    let rl_30 = r_28 - bb_29;
    let rl_31 = rh_25 - rl_30;
    let rl_32 = q_27 - bb_29;
    let rl_33 = rl_31 + rl_32;
    let hr_35 = r_28 * 0.5_f64;
    let s_36 = hr_35 * r_28;
    let se_37 = -s_36;
    let se_38 = f64::mul_add(hr_35, r_28, se_37);
    let w_p_41 = f64::mul_add(r_28, 0.04166666666666644_f64, 0.16666666666666682_f64);
    let w_p_44 = f64::mul_add(r_28, 0.0013888888889015253_f64, 0.008333333333317608_f64);
    let w_p_47 = f64::mul_add(r_28, 2.4801587061811854e-5_f64, 0.0001984126989528183_f64);
    let w_p_50 = f64::mul_add(r_28, 2.7557495382641367e-7_f64, 2.7557235741527254e-6_f64);
    let w_p_53 = f64::mul_add(r_28, 2.0847883409709147e-9_f64, 2.511178731431323e-8_f64);
    let w_z2_54 = r_28 * r_28;
    let w_p_55 = f64::mul_add(w_z2_54, w_p_44, w_p_41);
    let w_p_56 = f64::mul_add(w_z2_54, w_p_50, w_p_47);
    let w_z4_57 = w_z2_54 * w_z2_54;
    let w_p_58 = f64::mul_add(w_z4_57, w_p_56, w_p_55);
    let w_z8_59 = w_z4_57 * w_z4_57;
    let w_60 = f64::mul_add(w_z8_59, w_p_53, w_p_58);
    let t_61 = r_28 + s_36;
    let bb_62 = t_61 - r_28;
    let te_63 = t_61 - bb_62;
    let te_64 = r_28 - te_63;
    let te_65 = s_36 - bb_62;
    let te_66 = te_64 + te_65;
    let c_67 = r_28 + r_28;
    let c_68 = s_36 * c_67;
    let c_69 = f64::mul_add(t_61, rl_33, rl_33);
    let c_70 = f64::mul_add(c_68, w_60, c_69);
    let g_72 = 1.0_f64 + t_61;
    let ge_73 = g_72 - 1.0_f64;
    let ge_74 = t_61 - ge_73;
    let h_75 = se_38 + te_66;
    let h_76 = h_75 + c_70;
    let h_77 = ge_74 + h_76;
    let h_78 = g_72 + h_77;
    let hl_79 = h_78 - g_72;
    let hl_80 = h_77 - hl_79;
    let k_81 = bits(kd_22);
    let k_83 = i64::wrapping_shl(k_81, 32);
    let k_84 = i64::wrapping_shr(k_83, 32);
    let far_86 = d_16 < (-21.0_f64);
    let v_135 = if far_86 {
        let ka_88 = i64::wrapping_shr(k_84, 1);
        let fa_90 = i64::wrapping_shl(ka_88, 52);
        let fa_92 = i64::wrapping_add(fa_90, 0x3ff0000000000000_i64);
        let fa_93 = f64::from_bits(fa_92 as u64);
        let fb_94 = i64::wrapping_sub(k_84, ka_88);
        let fb_95 = i64::wrapping_shl(fb_94, 52);
        let fb_96 = i64::wrapping_add(fb_95, 0x3ff0000000000000_i64);
        let fb_97 = f64::from_bits(fb_96 as u64);
        let eh_98 = h_78 * fa_93;
        let eh_99 = eh_98 * fb_97;
        let el_100 = hl_80 * fa_93;
        let el_101 = el_100 * fb_97;
        let y0_102 = m_3 + eh_99;
        let bb_103 = y0_102 - m_3;
        let ye_104 = y0_102 - bb_103;
        let ye_105 = m_3 - ye_104;
        let ye_106 = eh_99 - bb_103;
        let ye_107 = ye_105 + ye_106;
        let v_109 = eh_99 * (-0.5_f64);
        let v_110 = f64::mul_add(v_109, eh_99, el_101);
        let v_111 = ye_107 + v_110;
        let v_112 = y0_102 + v_111;
        v_112
    } else {
        let sc_113 = i64::wrapping_shl(k_84, 52);
        let sc_114 = i64::wrapping_add(sc_113, 0x3ff0000000000000_i64);
        let sc_115 = f64::from_bits(sc_114 as u64);
        let eh_116 = sc_115 * h_78;
        let el_117 = sc_115 * hl_80;
        let u_118 = 1.0_f64 + eh_116;
        let u0_119 = u_118 - 1.0_f64;
        let u0_120 = eh_116 - u0_119;
        let hi_121 = u0_120 + el_117;
        let hi_122 = u_118 + hi_121;
        let lo_123 = hi_122 - u_118;
        let lo_124 = hi_121 - lo_123;
        let (lh_125, ll_126) = log_pair(hi_122, lo_124, 0.0_f64);
        let y0_127 = m_3 + lh_125;
        let bb_128 = y0_127 - m_3;
        let ye_129 = y0_127 - bb_128;
        let ye_130 = m_3 - ye_129;
        let ye_131 = lh_125 - bb_128;
        let ye_132 = ye_130 + ye_131;
        let v_133 = ye_132 + ll_126;
        let v_134 = y0_127 + v_133;
        v_134
    };
    let isinf_136 = f64::abs(m_3);
    let isinf_138 = isinf_136 == f64::INFINITY;
    let v1_139 = if isinf_138 { m_3 } else { v_135 };
    let isnan_140 = a_0 != a_0;
    let isnan_141 = b_1 != b_1;
    let isnan_142 = isnan_140 | isnan_141;
    let y_144 = if isnan_142 { f64::NAN } else { v1_139 };
    y_144
}

/// `xlogy`: x log(z), and 0 where x is 0 (within 1 ulp).
#[inline(always)]
pub fn xlogy(x_0: f64, y_1: f64) -> f64 {
    let above_3 = y_1 > 0.0_f64;
    let below_5 = y_1 < f64::INFINITY;
    let finite_6 = above_3 & below_5;
    let ax_7 = f64::abs(x_0);
    let bounded_8 = ax_7 < f64::INFINITY;
    let other_9 = x_0 != 0.0_f64;
    let some_10 = bounded_8 & other_9;
    let usual_11 = finite_6 & some_10;
    let r_42 = if usual_11 {
        let small_13 = y_1 < 1e-290_f64;
        let large_15 = y_1 > 1e290_f64;
        let s1_18 = if large_15 { 5.421010862427522e-20_f64 } else { 1.0_f64 };
        let s_20 = if small_13 { 1.8446744073709552e19_f64 } else { s1_18 };
        let a1_22 = if large_15 { 64.0_f64 } else { 0.0_f64 };
        let add_24 = if small_13 { (-64.0_f64) } else { a1_22 };
        let hi_25 = y_1 * s_20;
        let (h_26, l_27) = log_pair(hi_25, 0.0_f64, add_24);
        let p_28 = x_0 * h_26;
        let np_29 = -p_28;
        let e_30 = f64::mul_add(x_0, h_26, np_29);
        let t_31 = f64::mul_add(x_0, l_27, e_30);
        let sum_32 = p_28 + t_31;
        let ap_33 = f64::abs(p_28);
        let fits_34 = ap_33 < f64::INFINITY;
        let v_35 = if fits_34 { sum_32 } else { p_28 };
        v_35
    } else {
        let lg_36 = log(y_1);
        let m_37 = x_0 * lg_36;
        let none_38 = x_0 == 0.0_f64;
        let number_39 = y_1 == y_1;
        let zero_40 = none_38 & number_39;
        let w_41 = if zero_40 { 0.0_f64 } else { m_37 };
        w_41
    };
    r_42
}

/// `erf`: the error function (within 1.5 ulp).
#[inline(always)]
pub fn erf(x_0: f64) -> f64 {
    let ax_1 = f64::abs(x_0);
    let near_3 = ax_1 < 0.48_f64;
    let y_45 = if near_3 {
        let z_4 = x_0 * x_0;
        let z2_5 = z_4 * z_4;
        let p0_8 = f64::mul_add(z_4, (-0.37612638903183754_f64), 0.1283791670955126_f64);
        let p1_11 = f64::mul_add(z_4, (-0.026866170645056163_f64), 0.1128379167095499_f64);
        let p2_14 = f64::mul_add(z_4, (-0.0008548326679226404_f64), 0.005223977623321576_f64);
        let p3_17 = f64::mul_add(z_4, (-1.4923561400607523e-5_f64), 0.00012055298928389103_f64);
        let p4_20 = f64::mul_add(z_4, (-1.4749683975941894e-7_f64), 1.6384385737916608e-6_f64);
        let p_21 = f64::mul_add(z2_5, p4_20, p3_17);
        let p_22 = f64::mul_add(z2_5, p_21, p2_14);
        let p_23 = f64::mul_add(z2_5, p_22, p1_11);
        let p_24 = f64::mul_add(z2_5, p_23, p0_8);
        let yn_25 = f64::mul_add(x_0, p_24, x_0);
        yn_25
    } else {
        let ib_26 = bits(x_0);
        let is_28 = ib_26 & (0x8000000000000000_u64 as i64);
        let io_30 = is_28 | 0x3ff0000000000000_i64;
        let one_31 = f64::from_bits(io_30 as u64);
        let mid_33 = ax_1 < 6.0_f64;
        let yf_44 = if mid_33 {
            let nx_34 = -x_0;
            let s_35 = nx_34 * x_0;
            let ns_36 = -s_35;
            let sl_37 = f64::mul_add(nx_34, x_0, ns_36);
            let e_39 = erfc_scaled(ax_1, 0.0_f64, s_35, sl_37);
            let ne_40 = -one_31;
            let ym_41 = f64::mul_add(ne_40, e_39, one_31);
            ym_41
        } else {
            let isnan_42 = x_0 != x_0;
            let ys_43 = if isnan_42 { x_0 } else { one_31 };
            ys_43
        };
        yf_44
    };
    y_45
}

/// `erfc`: 1 - erf(x), without cancellation (within 2 ulp).
#[inline(always)]
pub fn erfc(x_0: f64) -> f64 {
    let ax_1 = f64::abs(x_0);
    let near_3 = ax_1 < 0.47_f64;
    let y_44 = if near_3 {
        let z_4 = x_0 * x_0;
        let z2_5 = z_4 * z_4;
        let p0_8 = f64::mul_add(z_4, (-0.37612638903183754_f64), 0.1283791670955126_f64);
        let p1_11 = f64::mul_add(z_4, (-0.026866170645056163_f64), 0.1128379167095499_f64);
        let p2_14 = f64::mul_add(z_4, (-0.0008548326679226404_f64), 0.005223977623321576_f64);
        let p3_17 = f64::mul_add(z_4, (-1.4923561400607523e-5_f64), 0.00012055298928389103_f64);
        let p4_20 = f64::mul_add(z_4, (-1.4749683975941894e-7_f64), 1.6384385737916608e-6_f64);
        let p_21 = f64::mul_add(z2_5, p4_20, p3_17);
        let p_22 = f64::mul_add(z2_5, p_21, p2_14);
        let p_23 = f64::mul_add(z2_5, p_22, p1_11);
        let p_24 = f64::mul_add(z2_5, p_23, p0_8);
        let yn_25 = f64::mul_add(x_0, p_24, x_0);
        let ys_27 = 1.0_f64 - yn_25;
        ys_27
    } else {
        let isneg_29 = x_0 < 0.0_f64;
        let mid_31 = ax_1 < 27.5_f64;
        let yf_43 = if mid_31 {
            let nx_32 = -x_0;
            let s_33 = nx_32 * x_0;
            let ns_34 = -s_33;
            let sl_35 = f64::mul_add(nx_32, x_0, ns_34);
            let e_36 = erfc_scaled(ax_1, 0.0_f64, s_33, sl_35);
            let e2_38 = 2.0_f64 - e_36;
            let ym_39 = if isneg_29 { e2_38 } else { e_36 };
            ym_39
        } else {
            let end_40 = if isneg_29 { 2.0_f64 } else { 0.0_f64 };
            let isnan_41 = x_0 != x_0;
            let ye_42 = if isnan_41 { x_0 } else { end_40 };
            ye_42
        };
        yf_43
    };
    y_44
}

/// `normcdf`: the distribution function of the standard normal (within 2 ulp).
#[inline(always)]
pub fn normcdf(x_0: f64) -> f64 {
    let ax_1 = f64::abs(x_0);
    let near_3 = ax_1 < 0.5_f64;
    let y_48 = if near_3 {
        let z_4 = x_0 * x_0;
        let z2_5 = z_4 * z_4;
        let p0_8 = f64::mul_add(z_4, (-0.06649038006690544_f64), 0.3989422804014327_f64);
        let p1_11 = f64::mul_add(z_4, (-0.0011873282154714648_f64), 0.009973557010035598_f64);
        let p2_14 = f64::mul_add(z_4, (-9.444654125000335e-6_f64), 0.00011543468743138857_f64);
        let p3_17 = f64::mul_add(z_4, (-4.11691507174381e-8_f64), 6.659548517171425e-7_f64);
        let p_19 = f64::mul_add(z2_5, 2.1498490655426055e-9_f64, p3_17);
        let p_20 = f64::mul_add(z2_5, p_19, p2_14);
        let p_21 = f64::mul_add(z2_5, p_20, p1_11);
        let p_22 = f64::mul_add(z2_5, p_21, p0_8);
        let yn_23 = f64::mul_add(x_0, p_22, 0.5_f64);
        yn_23
    } else {
        let isneg_25 = x_0 < 0.0_f64;
        let mid_27 = ax_1 < 38.6_f64;
        let yf_47 = if mid_27 {
            let a_29 = ax_1 * 0.7071067811865476_f64;
            let na_30 = -a_29;
            let a0_31 = f64::mul_add(ax_1, 0.7071067811865476_f64, na_30);
            let al_33 = f64::mul_add(ax_1, (-4.833646656726457e-17_f64), a0_31);
            let nx_35 = x_0 * (-0.5_f64);
            let s_36 = nx_35 * x_0;
            let ns_37 = -s_36;
            let sl_38 = f64::mul_add(nx_35, x_0, ns_37);
            let e_39 = erfc_scaled(a_29, al_33, s_36, sl_38);
            let h_40 = e_39 * 0.5_f64;
            let h1_42 = 1.0_f64 - h_40;
            let ym_43 = if isneg_25 { h_40 } else { h1_42 };
            ym_43
        } else {
            let end_44 = if isneg_25 { 0.0_f64 } else { 1.0_f64 };
            let isnan_45 = x_0 != x_0;
            let ye_46 = if isnan_45 { x_0 } else { end_44 };
            ye_46
        };
        yf_47
    };
    y_48
}

/// `norminv`: the inverse of normcdf, for p from 0 to 1 (within 2 ulp).
#[inline(always)]
pub fn norminv(p_0: f64) -> f64 {
    let q_2 = p_0 - 0.5_f64;
    let aq_3 = f64::abs(q_2);
    let near_5 = aq_3 <= 0.38_f64;
    let y_171 = if near_5 {
        let nq_6 = -q_2;
        let v_8 = f64::mul_add(nq_6, q_2, 0.1444_f64);
        let v2_9 = v_8 * v_8;
        let a0_12 = f64::mul_add(v_8, 107.89971700665966_f64, 4.0543090776044215_f64);
        let a1_15 = f64::mul_add(v_8, 5190.388076097207_f64, 1088.0697996022789_f64);
        let a2_18 = f64::mul_add(v_8, 11867.588265265998_f64, 11922.771436197148_f64);
        let a3_21 = f64::mul_add(v_8, 39.82846994439283_f64, 3705.0769313710953_f64);
        let a_22 = f64::mul_add(v2_9, a3_21, a2_18);
        let a_23 = f64::mul_add(v2_9, a_22, a1_15);
        let a_24 = f64::mul_add(v2_9, a_23, a0_12);
        let b0_27 = f64::mul_add(v_8, 30.966864700367605_f64, 1.0_f64);
        let b1_30 = f64::mul_add(v_8, 2305.665026923418_f64, 377.65341983921235_f64);
        let b2_33 = f64::mul_add(v_8, 12062.220930063753_f64, 7409.318717471534_f64);
        let b3_36 = f64::mul_add(v_8, 1942.8167566174423_f64, 8693.640297033857_f64);
        let b_37 = f64::mul_add(v2_9, b3_36, b2_33);
        let b_38 = f64::mul_add(v2_9, b_37, b1_30);
        let b_39 = f64::mul_add(v2_9, b_38, b0_27);
        let ab_40 = a_24 / b_39;
        let w_41 = q_2 * q_2;
        let wr_43 = f64::mul_add(w_41, ab_40, (-1.8328579980459167e-16_f64));
        let c_44 = q_2 * wr_43;
        let q1_45 = q_2 + 0.5_f64;
        let ql_46 = p_0 - q1_45;
        let slope_49 = f64::mul_add(wr_43, 3.0_f64, 2.5066282746310007_f64);
        let cl_50 = f64::mul_add(ql_46, slope_49, c_44);
        let yn_51 = f64::mul_add(q_2, 2.5066282746310007_f64, cl_50);
        yn_51
    } else {
        let upper_53 = q_2 > 0.0_f64;
        let p1_54 = 1.0_f64 - p_0;
        let t_55 = if upper_53 { p1_54 } else { p_0 };
        let inside_56 = t_55 > 0.0_f64;
        let m_168 = if inside_56 {
            let (lh_57, ll_58) = log_parts(t_55, 0.0_f64);
            let s_60 = lh_57 * (-2.0_f64);
            let r_61 = f64::sqrt(s_60);
            let nr_62 = -r_61;
            let s1_63 = f64::mul_add(nr_62, r_61, s_60);
            let s2_64 = f64::mul_add(ll_58, (-2.0_f64), s1_63);
            let rr_65 = r_61 + r_61;
            let rl_66 = s2_64 / rr_65;
            let r2_67 = r_61 * r_61;
            let low_69 = r_61 < 6.0_f64;
            let (num_157, den_158) = if low_69 {
                let na0_72 = f64::mul_add(r_61, (-22.54834383351961_f64), (-2.8441390686404016_f64));
                let na1_75 = f64::mul_add(r_61, (-5.152116501430282_f64), (-28.16113425216086_f64));
                let na2_78 = f64::mul_add(r_61, 1.7835866248630718_f64, 1.631963631057395_f64);
                let na3_81 = f64::mul_add(r_61, 0.02732547585840257_f64, 0.43140589398844037_f64);
                let na_83 = f64::mul_add(r2_67, 0.0003574788303758769_f64, na3_81);
                let na_84 = f64::mul_add(r2_67, na_83, na2_78);
                let na_85 = f64::mul_add(r2_67, na_84, na1_75);
                let na_86 = f64::mul_add(r2_67, na_85, na0_72);
                let da0_88 = f64::mul_add(r_61, 14.574243970486759_f64, 1.0_f64);
                let da1_91 = f64::mul_add(r_61, 38.987909895766826_f64, 41.021722797092316_f64);
                let da2_94 = f64::mul_add(r_61, 5.240859542164396_f64, 18.173928108498778_f64);
                let da3_97 = f64::mul_add(r_61, 0.037090941977835384_f64, 0.737786697727124_f64);
                let da_99 = f64::mul_add(r2_67, 0.0004423687221919281_f64, da3_97);
                let da_100 = f64::mul_add(r2_67, da_99, da2_94);
                let da_101 = f64::mul_add(r2_67, da_100, da1_91);
                let da_102 = f64::mul_add(r2_67, da_101, da0_88);
                (na_86, da_102)
            } else {
                let middle_104 = r_61 < 14.0_f64;
                let (nf_155, df_156) = if middle_104 {
                    let nb0_107 = f64::mul_add(r_61, (-4.4540565188406465_f64), (-2.3541701489241955_f64));
                    let nb1_110 = f64::mul_add(r_61, 0.5436962882329965_f64, 0.67483148113869_f64);
                    let nb2_113 = f64::mul_add(r_61, 0.001035406775027432_f64, 0.04793695791329471_f64);
                    let nb_115 = f64::mul_add(r2_67, 4.276402984147799e-6_f64, nb2_113);
                    let nb_116 = f64::mul_add(r2_67, nb_115, nb1_110);
                    let nb_117 = f64::mul_add(r2_67, nb_116, nb0_107);
                    let db0_119 = f64::mul_add(r_61, 5.331612293761224_f64, 1.0_f64);
                    let db1_122 = f64::mul_add(r_61, 1.0225447215192438_f64, 4.679973647740291_f64);
                    let db2_125 = f64::mul_add(r_61, 0.0013232763517606388_f64, 0.06803828695476653_f64);
                    let db_127 = f64::mul_add(r2_67, 5.270644787363486e-6_f64, db2_125);
                    let db_128 = f64::mul_add(r2_67, db_127, db1_122);
                    let db_129 = f64::mul_add(r2_67, db_128, db0_119);
                    (nb_117, db_129)
                } else {
                    let nc0_132 = f64::mul_add(r_61, (-0.452333019445983_f64), (-1.708272069464642_f64));
                    let nc1_135 = f64::mul_add(r_61, 0.06503411897997087_f64, 0.3123742190385648_f64);
                    let nc2_138 = f64::mul_add(r_61, 4.0082735607410095e-5_f64, 0.003064826845480061_f64);
                    let nc_140 = f64::mul_add(r2_67, 1.1226824761267209e-7_f64, nc2_138);
                    let nc_141 = f64::mul_add(r2_67, nc_140, nc1_135);
                    let nc_142 = f64::mul_add(r2_67, nc_141, nc0_132);
                    let dc0_144 = f64::mul_add(r_61, 1.9977986070065286_f64, 1.0_f64);
                    let dc1_147 = f64::mul_add(r_61, 0.10407288191904944_f64, 0.8440238642534342_f64);
                    let dc2_150 = f64::mul_add(r_61, 5.066882996254987e-5_f64, 0.004145125478703579_f64);
                    let dc_152 = f64::mul_add(r2_67, 1.3834197463701792e-7_f64, dc2_150);
                    let dc_153 = f64::mul_add(r2_67, dc_152, dc1_147);
                    let dc_154 = f64::mul_add(r2_67, dc_153, dc0_144);
                    (nc_142, dc_154)
                };
                (nf_155, df_156)
            };
            let g_159 = num_157 / den_158;
            let gl_160 = g_159 + rl_66;
            let r0_162 = r_61 - 0.8125_f64;
            let mi_163 = r0_162 + gl_160;
            mi_163
        } else {
            let zero_164 = t_55 == 0.0_f64;
            let me_167 = if zero_164 { f64::INFINITY } else { f64::NAN };
            me_167
        };
        let nm_169 = -m_168;
        let yf_170 = if upper_53 { m_168 } else { nm_169 };
        yf_170
    };
    y_171
}

/// `lgamma`: the logarithm of the size of the gamma function (within 2 ulp).
#[inline(always)]
pub fn lgamma(x_0: f64) -> f64 {
    let ax_1 = f64::abs(x_0);
    let mirror_3 = x_0 <= (-0.5_f64);
    let v_4 = if mirror_3 { ax_1 } else { x_0 };
    let large_6 = v_4 >= 8.0_f64;
    let (h_132, l_133) = if large_6 {
        let (lh_8, ll_9) = log_parts(v_4, 0.0_f64);
        let l1_11 = lh_8 - 1.0_f64;
        let ha_12 = v_4 * l1_11;
        let nha_13 = -ha_12;
        let he_14 = f64::mul_add(v_4, l1_11, nha_13);
        let hf_15 = f64::mul_add(v_4, ll_9, he_14);
        let i_16 = 1.0_f64 / v_4;
        let w_17 = i_16 * i_16;
        let w2_18 = w_17 * w_17;
        let s0_21 = f64::mul_add(w_17, (-0.002777777777773982_f64), 0.08333333333333333_f64);
        let s1_24 = f64::mul_add(w_17, (-0.0005952365838084739_f64), 0.0007936507897492187_f64);
        let s2_27 = f64::mul_add(w_17, (-0.0018903792026145536_f64), 0.0008414700110573563_f64);
        let s_29 = f64::mul_add(w2_18, 0.005065830821990134_f64, s2_27);
        let s_30 = f64::mul_add(w2_18, s_29, s1_24);
        let s_31 = f64::mul_add(w2_18, s_30, s0_21);
        let t0_33 = f64::mul_add(l1_11, (-0.5_f64), 0.4189385332046727_f64);
        let t1_34 = f64::mul_add(i_16, s_31, t0_33);
        let la_35 = hf_15 + t1_34;
        (ha_12, la_35)
    } else {
        let tiny_37 = ax_1 < 0.5_f64;
        let low_39 = v_4 < 1.5_f64;
        let pt_40 = f64::mul_add(ax_1, x_0, ax_1);
        let pu_41 = ax_1 - pt_40;
        let plt_42 = f64::mul_add(ax_1, x_0, pu_41);
        let pa_43 = if low_39 { v_4 } else { 1.0_f64 };
        let pb_44 = if tiny_37 { pt_40 } else { pa_43 };
        let plb_45 = if tiny_37 { plt_42 } else { 0.0_f64 };
        let vi_46 = v_4 as i64;
        let vk_48 = i64::wrapping_sub(vi_46, 2_i64);
        let steps_50 = i64::max(vk_48, 0_i64);
        let (p_62, pl_63) = {
            let mut j_51 = 0_i64;
            let (mut pp_52, mut ppl_53) = (pb_44, plb_45);
            loop {
                if j_51 >= steps_50 {
                    break (pp_52, ppl_53);
                }
                let j1_55 = i64::wrapping_add(j_51, 1_i64);
                let jf_56 = j1_55 as f64;
                let t_57 = v_4 - jf_56;
                let pn_58 = pp_52 * t_57;
                let npn_59 = -pn_58;
                let pe_60 = f64::mul_add(pp_52, t_57, npn_59);
                let pln_61 = f64::mul_add(ppl_53, t_57, pe_60);
                (pp_52, ppl_53) = (pn_58, pln_61); j_51 = j_51.wrapping_add(1);
            }
        };
        let kf_64 = steps_50 as f64;
        let z2b_66 = v_4 - 2.0_f64;
        let zc_67 = z2b_66 - kf_64;
        let z1b_68 = v_4 - 1.0_f64;
        let zb_69 = if low_39 { z1b_68 } else { zc_67 };
        let z_70 = if tiny_37 { x_0 } else { zb_69 };
        let sgn_72 = if low_39 { (-1.0_f64) } else { 1.0_f64 };
        let zz_73 = z_70 * z_70;
        let n0_76 = f64::mul_add(z_70, (-0.09064066732149548_f64), (-0.0673523010531981_f64));
        let n1_79 = f64::mul_add(z_70, (-0.010047125176782886_f64), (-0.0449949130212727_f64));
        let n2_82 = f64::mul_add(z_70, (-3.0576695383253624e-5_f64), (-0.0009713645851327087_f64));
        let n_84 = f64::mul_add(zz_73, (-1.1867027631313159e-8_f64), n2_82);
        let n_85 = f64::mul_add(zz_73, n_84, n1_79);
        let n_86 = f64::mul_add(zz_73, n_85, n0_76);
        let d0_88 = f64::mul_add(z_70, 1.6513389150792626_f64, 1.0_f64);
        let d1_91 = f64::mul_add(z_70, 0.33582983921589055_f64, 1.0629963747881648_f64);
        let d2_94 = f64::mul_add(z_70, 0.003961810833163395_f64, 0.05363823397970097_f64);
        let d_96 = f64::mul_add(zz_73, 9.962717859737326e-5_f64, d2_94);
        let d_97 = f64::mul_add(zz_73, d_96, d1_91);
        let d_98 = f64::mul_add(zz_73, d_97, d0_88);
        let nd_99 = n_86 / d_98;
        let bz_101 = z_70 * 0.42278433509846713_f64;
        let nbz_102 = -bz_101;
        let b1_103 = f64::mul_add(z_70, 0.42278433509846713_f64, nbz_102);
        let b2_105 = f64::mul_add(z_70, 4.942915152430645e-18_f64, b1_103);
        let c_107 = zz_73 * 0.3224670334241132_f64;
        let nc_108 = -c_107;
        let c1_109 = f64::mul_add(zz_73, 0.3224670334241132_f64, nc_108);
        let nzz_110 = -zz_73;
        let zl_111 = f64::mul_add(z_70, z_70, nzz_110);
        let c2_112 = f64::mul_add(zl_111, 0.3224670334241132_f64, c1_109);
        let z3_114 = f64::mul_add(z_70, nd_99, 1.520336175199238e-17_f64);
        let c3_115 = f64::mul_add(zz_73, z3_114, c2_112);
        let b_116 = bz_101 + c_107;
        let b3_117 = b_116 - bz_101;
        let b4_118 = c_107 - b3_117;
        let b5_119 = b2_105 + b4_118;
        let bl_120 = b5_119 + c3_115;
        let (gh_121, gl_122) = log_parts(p_62, pl_63);
        let g_123 = gh_121 * sgn_72;
        let hb_124 = g_123 + b_116;
        let h1_125 = hb_124 - g_123;
        let h2_126 = hb_124 - h1_125;
        let h3_127 = g_123 - h2_126;
        let h4_128 = b_116 - h1_125;
        let h5_129 = h3_127 + h4_128;
        let h6_130 = f64::mul_add(gl_122, sgn_72, h5_129);
        let lb_131 = h6_130 + bl_120;
        (hb_124, lb_131)
    };
    let y_191 = if mirror_3 {
        let near_134 = f64::round_ties_even(ax_1);
        let f0_135 = ax_1 - near_134;
        let f_136 = f64::abs(f0_135);
        let q_137 = f_136 * f_136;
        let q2_138 = q_137 * q_137;
        let tc0_141 = f64::mul_add(q_137, 0.8117424252833519_f64, (-1.6449340668482264_f64));
        let tc1_144 = f64::mul_add(q_137, 0.026147847813078808_f64, (-0.19075182412194128_f64));
        let tc2_147 = f64::mul_add(q_137, 0.00014842817816693618_f64, (-0.0023460809634923995_f64));
        let tc3_150 = f64::mul_add(q_137, 2.459180384815939e-7_f64, (-6.972960555564221e-6_f64));
        let tc_151 = f64::mul_add(q2_138, tc3_150, tc2_147);
        let tc_152 = f64::mul_add(q2_138, tc_151, tc1_144);
        let tc_153 = f64::mul_add(q2_138, tc_152, tc0_141);
        let tt_154 = q_137 * tc_153;
        let th_155 = tt_154 + 1.0_f64;
        let te_156 = 1.0_f64 - th_155;
        let tl_157 = te_156 + tt_154;
        let m_158 = ax_1 * f_136;
        let nm_159 = -m_158;
        let me_160 = f64::mul_add(ax_1, f_136, nm_159);
        let mh_161 = m_158 * th_155;
        let nmh_162 = -mh_161;
        let m1_163 = f64::mul_add(m_158, th_155, nmh_162);
        let m2_164 = f64::mul_add(m_158, tl_157, m1_163);
        let ml_165 = f64::mul_add(me_160, th_155, m2_164);
        let (rh_166, rl_167) = log_parts(mh_161, ml_165);
        let e_168 = rh_166 + h_132;
        let e1_169 = e_168 - rh_166;
        let e2_170 = e_168 - e1_169;
        let e3_171 = rh_166 - e2_170;
        let e4_172 = h_132 - e1_169;
        let e5_173 = e3_171 + e4_172;
        let e6_174 = e5_173 + rl_167;
        let e7_175 = e6_174 + l_133;
        let em_176 = e_168 + e7_175;
        let yn_177 = -em_176;
        let pole_178 = f0_135 == 0.0_f64;
        let end_180 = ax_1 == f64::INFINITY;
        let out_181 = pole_178 | end_180;
        let yp_182 = if out_181 { f64::INFINITY } else { yn_177 };
        yp_182
    } else {
        let yr_183 = h_132 + l_133;
        let zero_184 = x_0 == 0.0_f64;
        let over_186 = x_0 > 2.5599833278516383e305_f64;
        let inf_187 = zero_184 | over_186;
        let yi_188 = if inf_187 { f64::INFINITY } else { yr_183 };
        let isnan_189 = x_0 != x_0;
        let yj_190 = if isnan_189 { x_0 } else { yi_188 };
        yj_190
    };
    y_191
}

/// `polygamma`: the derivative of order n of digamma; digamma itself for n = 0 (within 2 ulp).
#[inline(always)]
pub fn polygamma(n_0: i64, x_1: f64) -> f64 {
    let digamma_3 = n_0 == 0_i64;
    let pos_5 = x_1 > 0.0_f64;
    let ax_6 = f64::abs(x_1);
    let near_7 = f64::round_ties_even(x_1);
    let f_8 = x_1 - near_7;
    let af_9 = f64::abs(f_8);
    let o_11 = ax_6 + 1.0_f64;
    let o1_12 = o_11 - ax_6;
    let o2_13 = o_11 - o1_12;
    let o3_14 = ax_6 - o2_13;
    let o4_15 = 1.0_f64 - o1_12;
    let ol_16 = o3_14 + o4_15;
    let y_230 = if digamma_3 {
        let small_18 = ax_6 < 8.673617379884035e-19_f64;
        let yd_81 = if small_18 {
            let ys_20 = (-1.0_f64) / x_1;
            ys_20
        } else {
            let da_21 = if pos_5 { x_1 } else { o_11 };
            let dal_22 = if pos_5 { 0.0_f64 } else { ol_16 };
            let (dh_23, dl_24) = digamma_parts(da_21, dal_22);
            let yp_25 = dh_23 + dl_24;
            let q_26 = (-1.0_f64) / f_8;
            let q1_27 = f64::mul_add(q_26, f_8, 1.0_f64);
            let q2_28 = q1_27 / f_8;
            let w_29 = f_8 * f_8;
            let w2_30 = w_29 * w_29;
            let kn0_33 = f64::mul_add(w_29, (-0.9999856130292_f64), 2.1646464674222763_f64);
            let kn1_36 = f64::mul_add(w_29, (-0.003576491286051352_f64), 0.11804326313049059_f64);
            let kn_38 = f64::mul_add(w2_30, 1.2628656895588731e-6_f64, kn1_36);
            let kn_39 = f64::mul_add(w2_30, kn_38, kn0_33);
            let kd0_41 = f64::mul_add(w_29, (-1.4019248790366554_f64), 1.0_f64);
            let kd1_44 = f64::mul_add(w_29, (-0.043827499111361044_f64), 0.44458329036208566_f64);
            let kd_46 = f64::mul_add(w2_30, 0.0011690877928547528_f64, kd1_44);
            let kd_47 = f64::mul_add(w2_30, kd_46, kd0_41);
            let k_48 = kn_39 / kd_47;
            let c_50 = f_8 * 3.289868133696453_f64;
            let nc_51 = -c_50;
            let c1_52 = f64::mul_add(f_8, 3.289868133696453_f64, nc_51);
            let c2_54 = f64::mul_add(f_8, 6.081344700796952e-17_f64, c1_52);
            let fw_55 = f_8 * w_29;
            let c3_56 = f64::mul_add(fw_55, k_48, c2_54);
            let a_57 = q_26 + c_50;
            let a1_58 = a_57 - q_26;
            let a2_59 = a_57 - a1_58;
            let a3_60 = q_26 - a2_59;
            let a4_61 = c_50 - a1_58;
            let a5_62 = a3_60 + a4_61;
            let b_63 = a_57 + dh_23;
            let b1_64 = b_63 - a_57;
            let b2_65 = b_63 - b1_64;
            let b3_66 = a_57 - b2_65;
            let b4_67 = dh_23 - b1_64;
            let b5_68 = b3_66 + b4_67;
            let l1_69 = c3_56 - q2_28;
            let l2_70 = l1_69 + dl_24;
            let l3_71 = a5_62 + b5_68;
            let l4_72 = l2_70 + l3_71;
            let yn_73 = b_63 + l4_72;
            let whole_74 = f_8 == 0.0_f64;
            let ym_76 = if whole_74 { f64::NAN } else { yn_73 };
            let yr_77 = if pos_5 { yp_25 } else { ym_76 };
            let top_79 = x_1 == f64::INFINITY;
            let yt_80 = if top_79 { f64::INFINITY } else { yr_77 };
            yt_80
        };
        yd_81
    } else {
        let neg_82 = n_0 < 0_i64;
        let many_84 = n_0 > 1000_i64;
        let fin_85 = ax_6 < f64::INFINITY;
        let bad0_86 = neg_82 | many_84;
        let ok0_87 = !bad0_86;
        let integer_88 = f_8 == 0.0_f64;
        let below_89 = !pos_5;
        let atpole_90 = integer_88 & below_89;
        let regular_91 = !atpole_90;
        let ok1_92 = ok0_87 & fin_85;
        let ok_93 = ok1_92 & regular_91;
        let n1_95 = n_0 & 1_i64;
        let odd_96 = n1_95 != 0_i64;
        let sgn_97 = if odd_96 { 1.0_f64 } else { (-1.0_f64) };
        let yh_229 = if ok_93 {
            let s_98 = i64::wrapping_add(n_0, 1_i64);
            let ref_99 = if pos_5 { x_1 } else { af_9 };
            let (sh_134, sl_135) = if pos_5 {
                let (ph_100, pl_101) = parts::hurwitz(s_98, x_1, 0.0_f64, x_1);
                (ph_100, pl_101)
            } else {
                let far_102 = 1.0_f64 - af_9;
                let far1_103 = 1.0_f64 - far_102;
                let farl_104 = far1_103 - af_9;
                let (nh_105, nl_106) = parts::hurwitz(s_98, af_9, 0.0_f64, af_9);
                let (fh_107, fl_108) = parts::hurwitz(s_98, far_102, farl_104, af_9);
                let (oh_109, oll_110) = parts::hurwitz(s_98, o_11, ol_16, af_9);
                let right_111 = f_8 > 0.0_f64;
                let gh_112 = if right_111 { nh_105 } else { fh_107 };
                let gl_113 = if right_111 { nl_106 } else { fl_108 };
                let hh_114 = if right_111 { fh_107 } else { nh_105 };
                let hl_115 = if right_111 { fl_108 } else { nl_106 };
                let i_116 = hh_114 - oh_109;
                let i1_117 = i_116 - hh_114;
                let i2_118 = i_116 - i1_117;
                let i3_119 = hh_114 - i2_118;
                let i4_120 = oh_109 + i1_117;
                let i5_121 = i3_119 - i4_120;
                let i6_122 = hl_115 - oll_110;
                let il_123 = i5_121 + i6_122;
                let j_124 = i_116 * sgn_97;
                let jl_125 = il_123 * sgn_97;
                let m_126 = gh_112 + j_124;
                let m1_127 = m_126 - gh_112;
                let m2_128 = m_126 - m1_127;
                let m3_129 = gh_112 - m2_128;
                let m4_130 = j_124 - m1_127;
                let m5_131 = m3_129 + m4_130;
                let m6_132 = gl_113 + jl_125;
                let ml_133 = m5_131 + m6_132;
                (m_126, ml_133)
            };
            let subn_137 = ref_99 < 2.2250738585072014e-308_f64;
            let rs_139 = ref_99 * 1.8014398509481984e16_f64;
            let rn_140 = if subn_137 { rs_139 } else { ref_99 };
            let roff_143 = if subn_137 { 1077_i64 } else { 1023_i64 };
            let rb_144 = bits(rn_140);
            let re_146 = u64::wrapping_shr(rb_144 as u64, 52) as i64;
            let er_147 = i64::wrapping_sub(re_146, roff_143);
            let rm_149 = rb_144 & 0xfffffffffffff_i64;
            let ro_151 = rm_149 | 0x3ff0000000000000_i64;
            let mr_152 = f64::from_bits(ro_151 as u64);
            let (t_178, tl_179, te_180) = {
                let mut d_153 = 0_i64;
                let (mut u_154, mut ul_155, mut ue_156) = (1.0_f64, 0.0_f64, 0_i64);
                loop {
                    if d_153 >= s_98 {
                        break (u_154, ul_155, ue_156);
                    }
                    let d1_157 = i64::max(d_153, 1_i64);
                    let df_158 = d1_157 as f64;
                    let v_159 = df_158 / mr_152;
                    let nv_160 = -v_159;
                    let v1_161 = f64::mul_add(nv_160, mr_152, df_158);
                    let vl_162 = v1_161 / mr_152;
                    let z_163 = u_154 * v_159;
                    let nz_164 = -z_163;
                    let z1_165 = f64::mul_add(u_154, v_159, nz_164);
                    let z2_166 = f64::mul_add(u_154, vl_162, z1_165);
                    let zl_167 = f64::mul_add(ul_155, v_159, z2_166);
                    let zb_168 = bits(z_163);
                    let ze_169 = u64::wrapping_shr(zb_168 as u64, 52) as i64;
                    let za_171 = i64::wrapping_sub(2046_i64, ze_169);
                    let zs_172 = i64::wrapping_shl(za_171, 52);
                    let scale_173 = f64::from_bits(zs_172 as u64);
                    let zn_174 = z_163 * scale_173;
                    let zln_175 = zl_167 * scale_173;
                    let zk_176 = i64::wrapping_sub(ze_169, 1023_i64);
                    let uen_177 = i64::wrapping_add(ue_156, zk_176);
                    (u_154, ul_155, ue_156) = (zn_174, zln_175, uen_177); d_153 = d_153.wrapping_add(1);
                }
            };
            let sb_181 = bits(sh_134);
            let sx_182 = u64::wrapping_shr(sb_181 as u64, 52) as i64;
            let sx1_184 = sx_182 & 2047_i64;
            let sx2_185 = i64::wrapping_sub(sx1_184, 1023_i64);
            let sa_186 = i64::wrapping_sub(2046_i64, sx1_184);
            let ss0_187 = i64::wrapping_shl(sa_186, 52);
            let sa0_188 = sa_186 == 0_i64;
            let ss_190 = if sa0_188 { 0x8000000000000_i64 } else { ss0_187 };
            let sf_191 = f64::from_bits(ss_190 as u64);
            let shn_192 = sh_134 * sf_191;
            let sln_193 = sl_135 * sf_191;
            let g_194 = t_178 * shn_192;
            let ng_195 = -g_194;
            let g1_196 = f64::mul_add(t_178, shn_192, ng_195);
            let g2_197 = f64::mul_add(t_178, sln_193, g1_196);
            let g3_198 = f64::mul_add(tl_179, shn_192, g2_197);
            let gv_199 = g_194 + g3_198;
            let gs_200 = gv_199 * sgn_97;
            let ex0_201 = i64::wrapping_mul(s_98, er_147);
            let ex1_202 = i64::wrapping_sub(te_180, ex0_201);
            let ex2_203 = i64::wrapping_add(ex1_202, sx2_185);
            let ex3_205 = i64::min(ex2_203, 1100_i64);
            let ex_207 = i64::max(ex3_205, (-1200_i64));
            let ea_208 = i64::wrapping_shr(ex_207, 1);
            let eb_209 = i64::wrapping_sub(ex_207, ea_208);
            let ea1_210 = i64::wrapping_shl(ea_208, 52);
            let eb1_211 = i64::wrapping_shl(eb_209, 52);
            let ea2_212 = i64::wrapping_add(ea1_210, 0x3ff0000000000000_i64);
            let eb2_213 = i64::wrapping_add(eb1_211, 0x3ff0000000000000_i64);
            let xa_214 = f64::from_bits(ea2_212 as u64);
            let xb_215 = f64::from_bits(eb2_213 as u64);
            let ya_216 = gs_200 * xa_214;
            let yb_217 = ya_216 * xb_215;
            yb_217
        } else {
            let zero_218 = sgn_97 * 0.0_f64;
            let xz_219 = x_1 * (-1.0_f64);
            let lim_220 = 1.0_f64 / xz_219;
            let sided_221 = ax_6 == 0.0_f64;
            let even_222 = if sided_221 { lim_220 } else { f64::NAN };
            let pole_223 = if odd_96 { f64::INFINITY } else { even_222 };
            let atinf_224 = x_1 == f64::INFINITY;
            let e0_225 = if atinf_224 { zero_218 } else { f64::NAN };
            let use_226 = atpole_90 & fin_85;
            let e1_227 = if use_226 { pole_223 } else { e0_225 };
            let e2_228 = if bad0_86 { f64::NAN } else { e1_227 };
            e2_228
        };
        yh_229
    };
    y_230
}

/// `sigmoid`: 1 / (1 + e^-x) (within 2 ulp).
#[inline(always)]
pub fn sigmoid(x_0: f64) -> f64 {
    let ax_1 = f64::abs(x_0);
    let t_2 = -ax_1;
    let e_3 = exp(t_2);
    let neg_5 = x_0 < 0.0_f64;
    let num_7 = if neg_5 { e_3 } else { 1.0_f64 };
    let d_8 = e_3 + 1.0_f64;
    let d1_9 = d_8 - 1.0_f64;
    let dl_10 = e_3 - d1_9;
    let q_11 = num_7 / d_8;
    let nq_12 = -q_11;
    let r0_13 = f64::mul_add(nq_12, d_8, num_7);
    let r1_14 = f64::mul_add(nq_12, dl_10, r0_13);
    let c_15 = r1_14 / d_8;
    let y0_16 = q_11 + c_15;
    let far_18 = x_0 < (-40.0_f64);
    let y_19 = if far_18 { e_3 } else { y0_16 };
    y_19
}

/// `softplus`: log(1 + e^x) (within 2 ulp).
#[inline(always)]
pub fn softplus(x_0: f64) -> f64 {
    let ax_1 = f64::abs(x_0);
    let t_2 = -ax_1;
    let e_3 = exp(t_2);
    let far_5 = x_0 < (-37.0_f64);
    let y_23 = if far_5 {
        e_3
    } else {
        let d_7 = e_3 + 1.0_f64;
        let d1_8 = d_7 - 1.0_f64;
        let dl_9 = e_3 - d1_8;
        let (h_10, l_11) = log_parts(d_7, dl_9);
        let neg_13 = x_0 < 0.0_f64;
        let base_14 = if neg_13 { 0.0_f64 } else { x_0 };
        let s_15 = base_14 + h_10;
        let b1_16 = s_15 - base_14;
        let sl_17 = h_10 - b1_16;
        let sm_18 = sl_17 + l_11;
        let big_20 = x_0 > 700.0_f64;
        let yn_21 = s_15 + sm_18;
        let yb_22 = if big_20 { x_0 } else { yn_21 };
        yb_22
    };
    y_23
}

/// The sine and the cosine of an angle: the same bits, in less time.
#[inline(always)]
pub fn sin_cos(x_0: f64) -> (f64, f64) {
    let v_1 = f64::abs(x_0);
    let v_3 = v_1 <= 0.7853981633974483_f64;
    let (s_129, c_130) = if v_3 {
        let v_4 = x_0 * x_0;
        let v_5 = v_4 * v_4;
        let v_7 = f64::mul_add(x_0, v_4, 0.0_f64);
        let v_10 = f64::mul_add(v_4, 0.008333333333321898_f64, (-0.1666666666666663_f64));
        let v_13 = f64::mul_add(v_4, 2.7557313570498283e-6_f64, (-0.00019841269829431722_f64));
        let v_16 = f64::mul_add(v_4, 1.589580555011928e-10_f64, (-2.5050740180718966e-8_f64));
        let v_17 = f64::mul_add(v_5, v_16, v_13);
        let v_18 = f64::mul_add(v_5, v_17, v_10);
        let v_19 = v_7 * v_18;
        let v_20 = x_0 + v_19;
        let v_23 = f64::mul_add(v_4, (-0.5_f64), 1.0_f64);
        let v_24 = 1.0_f64 - v_23;
        let v_25 = f64::mul_add(v_4, (-0.5_f64), v_24);
        let v_28 = f64::mul_add(v_4, (-0.0013888888888874459_f64), 0.0416666666666666_f64);
        let v_31 = f64::mul_add(v_4, (-2.755731439375834e-7_f64), 2.4801587289653715e-5_f64);
        let v_34 = f64::mul_add(v_4, (-1.1359857818710249e-11_f64), 2.0875728035958986e-9_f64);
        let v_35 = f64::mul_add(v_5, v_34, v_31);
        let v_36 = f64::mul_add(v_5, v_35, v_28);
        let v_37 = f64::mul_add(v_5, v_36, v_25);
        let v_38 = v_23 + v_37;
        (v_20, v_38)
    } else {
        let v_40 = v_1 < 1000000.0_f64;
        let (v_58, v_59, v_60) = if v_40 {
            let v_43 = f64::mul_add(x_0, 0.6366197723675814_f64, 6755399441055744.0_f64);
            let v_44 = v_43 - 6755399441055744.0_f64;
            let v_45 = bits(v_43);
            let v_47 = f64::mul_add(v_44, (-1.5707963267948966_f64), x_0);
            let v_49 = v_44 * 6.12323399538461e-17_f64;
            let v_50 = v_47 - v_49;
            let v_51 = v_47 - v_50;
            let v_52 = v_51 - v_49;
            let v_54 = f64::mul_add(v_44, (-3.5215598651832e-27_f64), v_52);
            (v_50, v_54, v_45)
        } else {
            let (v_55, v_56, v_57) = parts::reduce_huge(x_0);
            (v_55, v_56, v_57)
        };
        let v_62 = v_60 & 2_i64;
        let v_64 = i64::wrapping_shl(v_62, 62);
        let v_66 = v_64 | 0x3ff0000000000000_i64;
        let v_67 = f64::from_bits(v_66 as u64);
        let v_68 = v_58 * v_58;
        let v_69 = v_68 * v_68;
        let v_71 = v_60 & 1_i64;
        let v_73 = v_71 != 0_i64;
        let v_97 = if v_73 {
            let v_74 = f64::mul_add(v_68, (-0.5_f64), 1.0_f64);
            let v_75 = 1.0_f64 - v_74;
            let v_76 = f64::mul_add(v_68, (-0.5_f64), v_75);
            let v_77 = -v_58;
            let v_78 = f64::mul_add(v_77, v_59, v_76);
            let v_79 = f64::mul_add(v_68, (-0.0013888888888874459_f64), 0.0416666666666666_f64);
            let v_80 = f64::mul_add(v_68, (-2.755731439375834e-7_f64), 2.4801587289653715e-5_f64);
            let v_81 = f64::mul_add(v_68, (-1.1359857818710249e-11_f64), 2.0875728035958986e-9_f64);
            let v_82 = f64::mul_add(v_69, v_81, v_80);
            let v_83 = f64::mul_add(v_69, v_82, v_79);
            let v_84 = f64::mul_add(v_69, v_83, v_78);
            let v_85 = v_67 * v_74;
            let v_86 = f64::mul_add(v_67, v_84, v_85);
            v_86
        } else {
            let v_87 = v_58 * v_67;
            let v_88 = v_59 * v_67;
            let v_89 = f64::mul_add(v_87, v_68, 0.0_f64);
            let v_90 = f64::mul_add(v_68, 0.008333333333321898_f64, (-0.1666666666666663_f64));
            let v_91 = f64::mul_add(v_68, 2.7557313570498283e-6_f64, (-0.00019841269829431722_f64));
            let v_92 = f64::mul_add(v_68, 1.589580555011928e-10_f64, (-2.5050740180718966e-8_f64));
            let v_93 = f64::mul_add(v_69, v_92, v_91);
            let v_94 = f64::mul_add(v_69, v_93, v_90);
            let v_95 = f64::mul_add(v_89, v_94, v_88);
            let v_96 = v_87 + v_95;
            v_96
        };
        let v_98 = i64::wrapping_add(v_60, 1_i64);
        let v_99 = v_98 & 2_i64;
        let v_100 = i64::wrapping_shl(v_99, 62);
        let v_101 = v_100 | 0x3ff0000000000000_i64;
        let v_102 = f64::from_bits(v_101 as u64);
        let v_103 = v_98 & 1_i64;
        let v_104 = v_103 != 0_i64;
        let v_128 = if v_104 {
            let v_105 = f64::mul_add(v_68, (-0.5_f64), 1.0_f64);
            let v_106 = 1.0_f64 - v_105;
            let v_107 = f64::mul_add(v_68, (-0.5_f64), v_106);
            let v_108 = -v_58;
            let v_109 = f64::mul_add(v_108, v_59, v_107);
            let v_110 = f64::mul_add(v_68, (-0.0013888888888874459_f64), 0.0416666666666666_f64);
            let v_111 = f64::mul_add(v_68, (-2.755731439375834e-7_f64), 2.4801587289653715e-5_f64);
            let v_112 = f64::mul_add(v_68, (-1.1359857818710249e-11_f64), 2.0875728035958986e-9_f64);
            let v_113 = f64::mul_add(v_69, v_112, v_111);
            let v_114 = f64::mul_add(v_69, v_113, v_110);
            let v_115 = f64::mul_add(v_69, v_114, v_109);
            let v_116 = v_102 * v_105;
            let v_117 = f64::mul_add(v_102, v_115, v_116);
            v_117
        } else {
            let v_118 = v_58 * v_102;
            let v_119 = v_59 * v_102;
            let v_120 = f64::mul_add(v_118, v_68, 0.0_f64);
            let v_121 = f64::mul_add(v_68, 0.008333333333321898_f64, (-0.1666666666666663_f64));
            let v_122 = f64::mul_add(v_68, 2.7557313570498283e-6_f64, (-0.00019841269829431722_f64));
            let v_123 = f64::mul_add(v_68, 1.589580555011928e-10_f64, (-2.5050740180718966e-8_f64));
            let v_124 = f64::mul_add(v_69, v_123, v_122);
            let v_125 = f64::mul_add(v_69, v_124, v_121);
            let v_126 = f64::mul_add(v_120, v_125, v_119);
            let v_127 = v_118 + v_126;
            v_127
        };
        (v_97, v_128)
    };
    (s_129, c_130)
}

#[inline(always)]
pub(crate) fn rem_huge(a_0: f64, b_1: f64) -> f64 {
    let ia_2 = bits(a_0);
    let ia_4 = ia_2 & 0x7fffffffffffffff_i64;
    let ib_5 = bits(b_1);
    let ib_6 = ib_5 & 0x7fffffffffffffff_i64;
    let ea_8 = u64::wrapping_shr(ia_4 as u64, 52) as i64;
    let eb_9 = u64::wrapping_shr(ib_6 as u64, 52) as i64;
    let eb_11 = i64::max(eb_9, 1_i64);
    let ma_13 = ia_4 & 0xfffffffffffff_i64;
    let ma_15 = ma_13 | 0x10000000000000_i64;
    let hid_16 = ib_6 < 0x10000000000000_i64;
    let hid_18 = if hid_16 { 0_i64 } else { 0x10000000000000_i64 };
    let mb_19 = ib_6 & 0xfffffffffffff_i64;
    let mb_20 = mb_19 | hid_18;
    let e_21 = i64::wrapping_sub(ea_8, eb_11);
    let steps_23 = floor_div(e_21, 10_i64);
    let last_24 = i64::wrapping_mul(steps_23, 10_i64);
    let last_25 = i64::wrapping_sub(e_21, last_24);
    let r_26 = floor_mod(ma_15, mb_20);
    let r_31 = {
        let mut i_27 = 0_i64;
        let mut r_in_28 = r_26;
        loop {
            if i_27 >= steps_23 {
                break r_in_28;
            }
            let r_29 = i64::wrapping_shl(r_in_28, 10);
            let r_30 = floor_mod(r_29, mb_20);
            r_in_28 = r_30; i_27 = i_27.wrapping_add(1);
        }
    };
    let r_32 = i64::wrapping_shl(r_31, last_25 as u32);
    let r_33 = floor_mod(r_32, mb_20);
    let unit_34 = eb_11 > 52_i64;
    let unit_35 = i64::wrapping_sub(eb_11, 52_i64);
    let unit_36 = i64::wrapping_shl(unit_35, 52);
    let unit_37 = i64::wrapping_sub(eb_11, 1_i64);
    let unit_38 = i64::wrapping_shl(1_i64, unit_37 as u32);
    let unit_39 = if unit_34 { unit_36 } else { unit_38 };
    let unit_40 = f64::from_bits(unit_39 as u64);
    let y_41 = r_33 as f64;
    let y_42 = y_41 * unit_40;
    y_42
}

#[inline(always)]
pub(crate) fn reduce_huge(x_0: f64) -> (f64, f64, i64) {
    let ax_1 = f64::abs(x_0);
    let ib_2 = bits(ax_1);
    let be_4 = u64::wrapping_shr(ib_2 as u64, 52) as i64;
    let mant_6 = ib_2 & 0xfffffffffffff_i64;
    let m_8 = mant_6 | 0x10000000000000_i64;
    let pos_10 = i64::wrapping_sub(be_4, 1041_i64);
    let idx_12 = u64::wrapping_shr(pos_10 as u64, 6) as i64;
    let sl_14 = pos_10 & 63_i64;
    let sr_15 = sl_14 ^ 63_i64;
    let i8_17 = idx_12 & 8_i64;
    let b8_19 = i8_17 != 0_i64;
    let i4_21 = idx_12 & 4_i64;
    let b4_22 = i4_21 != 0_i64;
    let i2_24 = idx_12 & 2_i64;
    let b2_25 = i2_24 != 0_i64;
    let i1_27 = idx_12 & 1_i64;
    let b1_28 = i1_27 != 0_i64;
    let u0_31 = if b8_19 { 0x52ebb4484e99c702_i64 } else { 0xa2f9836_i64 };
    let u1_34 = if b8_19 { 0x6b45f7e413991d63_i64 } else { (0xe4e441529fc2757d_u64 as i64) };
    let u2_37 = if b8_19 { (0x9835339f49c845f8_u64 as i64) } else { 0x1f534ddc0db62959_i64 };
    let u3_40 = if b8_19 { (0xbbdf9283b1ff897f_u64 as i64) } else { (0x93c439041fe5163a_u64 as i64) };
    let u4_43 = if b8_19 { (0xfde05980fef2f118_u64 as i64) } else { (0xbdebbc561b7246e3_u64 as i64) };
    let u5_46 = if b8_19 { (0xb5a0a6d1f6d367ec_u64 as i64) } else { (0xa424dd2e006492ee_u64 as i64) };
    let u6_49 = if b8_19 { (0xf27cb09b74f463f6_u64 as i64) } else { (0xa09d1921cfe1deb1_u64 as i64) };
    let u7_52 = if b8_19 { 0x69e5fea2d7527bac_i64 } else { (0xcb129a73ee88235f_u64 as i64) };
    let u8_54 = if b8_19 { 0x7ebe5f17b3d0739f_i64 } else { 0x52ebb4484e99c702_i64 };
    let u9_56 = if b8_19 { 0x78a5292ea6bfb5fb_i64 } else { 0x6b45f7e413991d63_i64 };
    let u10_58 = if b8_19 { 0x11f8d5d085603304_i64 } else { (0x9835339f49c845f8_u64 as i64) };
    let v0_59 = if b4_22 { u4_43 } else { u0_31 };
    let v1_60 = if b4_22 { u5_46 } else { u1_34 };
    let v2_61 = if b4_22 { u6_49 } else { u2_37 };
    let v3_62 = if b4_22 { u7_52 } else { u3_40 };
    let v4_63 = if b4_22 { u8_54 } else { u4_43 };
    let v5_64 = if b4_22 { u9_56 } else { u5_46 };
    let v6_65 = if b4_22 { u10_58 } else { u6_49 };
    let w0_66 = if b2_25 { v2_61 } else { v0_59 };
    let w1_67 = if b2_25 { v3_62 } else { v1_60 };
    let w2_68 = if b2_25 { v4_63 } else { v2_61 };
    let w3_69 = if b2_25 { v5_64 } else { v3_62 };
    let w4_70 = if b2_25 { v6_65 } else { v4_63 };
    let x0_71 = if b1_28 { w1_67 } else { w0_66 };
    let x1_72 = if b1_28 { w2_68 } else { w1_67 };
    let x2_73 = if b1_28 { w3_69 } else { w2_68 };
    let x3_74 = if b1_28 { w4_70 } else { w3_69 };
    let h0_75 = i64::wrapping_shl(x0_71, sl_14 as u32);
    let l0_76 = u64::wrapping_shr(x1_72 as u64, 1) as i64;
    let k0_77 = u64::wrapping_shr(l0_76 as u64, sr_15 as u32) as i64;
    let t0_78 = h0_75 | k0_77;
    let h1_79 = i64::wrapping_shl(x1_72, sl_14 as u32);
    let l1_80 = u64::wrapping_shr(x2_73 as u64, 1) as i64;
    let k1_81 = u64::wrapping_shr(l1_80 as u64, sr_15 as u32) as i64;
    let t1_82 = h1_79 | k1_81;
    let h2_83 = i64::wrapping_shl(x2_73, sl_14 as u32);
    let l2_84 = u64::wrapping_shr(x3_74 as u64, 1) as i64;
    let k2_85 = u64::wrapping_shr(l2_84 as u64, sr_15 as u32) as i64;
    let t2_86 = h2_83 | k2_85;
    let c0_87 = umulh(m_8, t2_86);
    let d0_88 = i64::wrapping_mul(m_8, t1_82);
    let f0_89 = i64::wrapping_add(c0_87, d0_88);
    let cx_91 = f0_89 ^ (0x8000000000000000_u64 as i64);
    let cy_92 = c0_87 ^ (0x8000000000000000_u64 as i64);
    let cc_93 = cx_91 < cy_92;
    let carry_94 = if cc_93 { 1_i64 } else { 0_i64 };
    let c1_95 = umulh(m_8, t1_82);
    let d1_96 = i64::wrapping_mul(m_8, t0_78);
    let g1_97 = i64::wrapping_add(c1_95, d1_96);
    let f1_98 = i64::wrapping_add(g1_97, carry_94);
    let qr_100 = i64::wrapping_add(f1_98, 0x2000000000000000_i64);
    let qa_102 = u64::wrapping_shr(qr_100 as u64, 62) as i64;
    let y0_103 = i64::wrapping_shl(f1_98, 2);
    let y1_104 = u64::wrapping_shr(f0_89 as u64, 62) as i64;
    let fh_105 = y0_103 | y1_104;
    let fl_106 = i64::wrapping_shl(f0_89, 2);
    let ia_108 = fh_105 & (-2048_i64);
    let ja_110 = fh_105 & 2047_i64;
    let jb_112 = i64::wrapping_shl(ja_110, 32);
    let jc_113 = u64::wrapping_shr(fl_106 as u64, 32) as i64;
    let jd_114 = jb_112 | jc_113;
    let je_116 = fl_106 & 0xffffffff_i64;
    let fa_117 = ia_108 as f64;
    let fb_118 = jd_114 as f64;
    let fc_119 = je_116 as f64;
    let ga_121 = fa_117 * 5.421010862427522e-20_f64;
    let gb_123 = fb_118 * 1.262177448353619e-29_f64;
    let gc_125 = fc_119 * 2.938735877055719e-39_f64;
    let s1_126 = ga_121 + gb_123;
    let s2_127 = s1_126 - ga_121;
    let s3_128 = gb_123 - s2_127;
    let s4_129 = s3_128 + gc_125;
    let s5_130 = s1_126 + s4_129;
    let s6_131 = s5_130 - s1_126;
    let s7_132 = s4_129 - s6_131;
    let isneg_134 = x_0 < 0.0_f64;
    let sx_137 = if isneg_134 { (-1.0_f64) } else { 1.0_f64 };
    let sa_138 = s5_130 * sx_137;
    let sb_139 = s7_132 * sx_137;
    let ra_141 = sa_138 * 1.5707963267948966_f64;
    let nra_142 = -ra_141;
    let rb_143 = f64::mul_add(sa_138, 1.5707963267948966_f64, nra_142);
    let rc_145 = f64::mul_add(sa_138, 6.123233995736766e-17_f64, rb_143);
    let rd_146 = f64::mul_add(sb_139, 1.5707963267948966_f64, rc_145);
    let nanx_147 = x_0 - x_0;
    let re_148 = ra_141 + rd_146;
    let rf_149 = re_148 - ra_141;
    let rg_150 = rd_146 - rf_149;
    let rn_151 = re_148 + nanx_147;
    let qn_152 = i64::wrapping_sub(0_i64, qa_102);
    let qs_153 = if isneg_134 { qn_152 } else { qa_102 };
    (rn_151, rg_150, qs_153)
}

#[inline(always)]
fn log_pair(hi_0: f64, lo_1: f64, add_2: f64) -> (f64, f64) {
    let ix_3 = bits(hi_0);
    let t_5 = i64::wrapping_sub(ix_3, 0x3fe6a09e667f3bcd_i64);
    let k_7 = i64::wrapping_shr(t_5, 52);
    let k_9 = i64::wrapping_sub(k_7, 0_i64);
    let te_11 = t_5 & (0xfff0000000000000_u64 as i64);
    let m_12 = i64::wrapping_sub(ix_3, te_11);
    let m_13 = f64::from_bits(m_12 as u64);
    let kf_14 = k_9 as f64;
    let kf_15 = kf_14 + add_2;
    let fl_17 = i64::wrapping_sub(0x3ff0000000000000_i64, te_11);
    let fl_18 = f64::from_bits(fl_17 as u64);
    let fl_19 = lo_1 * fl_18;
    let f0_21 = m_13 - 1.0_f64;
    let f_22 = f0_21 + fl_19;
    let bb_23 = f_22 - f0_21;
    let fe_24 = f_22 - bb_23;
    let fe_25 = f0_21 - fe_24;
    let fe_26 = fl_19 - bb_23;
    let fe_27 = fe_25 + fe_26;
    let d_29 = 2.0_f64 + f_22;
    let dl0_30 = d_29 - 2.0_f64;
    let dl0_31 = f_22 - dl0_30;
    let dl_32 = dl0_31 + fe_27;
    let inv_33 = 1.0_f64 / d_29;
    let s_34 = f_22 * inv_33;
    let sd_35 = -s_34;
    let sd_36 = -s_34;
    let sd_37 = f64::mul_add(sd_36, d_29, f_22);
    let sd_38 = fe_27 + sd_37;
    let sd_39 = f64::mul_add(sd_35, dl_32, sd_38);
    let sl_40 = sd_39 * inv_33;
    let z_41 = s_34 * s_34;
    let ze_42 = -z_41;
    let ze_43 = f64::mul_add(s_34, s_34, ze_42);
    let zl_44 = s_34 + s_34;
    let zl_45 = f64::mul_add(zl_44, sl_40, ze_43);
    let p_p_48 = f64::mul_add(z_41, 0.2857142857144384_f64, 0.3999999999999998_f64);
    let p_p_51 = f64::mul_add(z_41, 0.1818181884452401_f64, 0.22222222217787832_f64);
    let p_p_54 = f64::mul_add(z_41, 0.1333626743240595_f64, 0.1538455837174313_f64);
    let p_p_57 = f64::mul_add(z_41, 0.11982471839947331_f64, 0.1167570718259416_f64);
    let p_z2_58 = z_41 * z_41;
    let p_p_59 = f64::mul_add(p_z2_58, p_p_51, p_p_48);
    let p_p_60 = f64::mul_add(p_z2_58, p_p_57, p_p_54);
    let p_z4_61 = p_z2_58 * p_z2_58;
    let p_62 = f64::mul_add(p_z4_61, p_p_60, p_p_59);
    let zp_63 = z_41 * p_62;
    let c_65 = 0.6666666666666666_f64 + zp_63;
    let c0_66 = c_65 - 0.6666666666666666_f64;
    let c0_67 = zp_63 - c0_66;
    let cl_69 = c0_67 + 3.700743415417188e-17_f64;
    let g_70 = z_41 * c_65;
    let ge_71 = -g_70;
    let ge_72 = f64::mul_add(z_41, c_65, ge_71);
    let gl_73 = f64::mul_add(zl_45, c_65, ge_72);
    let gl_74 = f64::mul_add(z_41, cl_69, gl_73);
    let w_75 = s_34 * g_70;
    let we_76 = -w_75;
    let we_77 = f64::mul_add(s_34, g_70, we_76);
    let wl_78 = f64::mul_add(sl_40, g_70, we_77);
    let wl_79 = f64::mul_add(s_34, gl_74, wl_78);
    let a_80 = s_34 + s_34;
    let a_81 = a_80 + w_75;
    let ae_82 = a_81 - a_80;
    let ae_83 = w_75 - ae_82;
    let al_84 = f64::mul_add(2.0_f64, sl_40, wl_79);
    let al_85 = ae_83 + al_84;
    let kl_87 = kf_15 * 0.6931471805598903_f64;
    let b_88 = kl_87 + a_81;
    let bb_89 = b_88 - kl_87;
    let be_90 = b_88 - bb_89;
    let be_91 = kl_87 - be_90;
    let be_92 = a_81 - bb_89;
    let be_93 = be_91 + be_92;
    let bl_94 = be_93 + al_85;
    let bl_96 = f64::mul_add(kf_15, 5.497923018708371e-14_f64, bl_94);
    let h_97 = b_88 + bl_96;
    let l_98 = b_88 - h_97;
    let l_99 = l_98 + bl_96;
    (h_97, l_99)
}

#[inline(always)]
fn pow_core(a_0: f64, bh_1: f64, bl_2: f64) -> f64 {
    let tiny_4 = a_0 < 2.2250738585072014e-308_f64;
    let as_6 = a_0 * 1.8014398509481984e16_f64;
    let as_7 = if tiny_4 { as_6 } else { a_0 };
    let koff_10 = if tiny_4 { 54_i64 } else { 0_i64 };
    let ix_11 = bits(as_7);
    let t_13 = i64::wrapping_sub(ix_11, 0x3fe6a09e667f3bcd_i64);
    let k_15 = i64::wrapping_shr(t_13, 52);
    let k_16 = i64::wrapping_sub(k_15, koff_10);
    let te_18 = t_13 & (0xfff0000000000000_u64 as i64);
    let m_19 = i64::wrapping_sub(ix_11, te_18);
    let m_20 = f64::from_bits(m_19 as u64);
    let kf_21 = k_16 as f64;
    let f_23 = m_20 - 1.0_f64;
    let d_25 = 2.0_f64 + f_23;
    let dl_26 = d_25 - 2.0_f64;
    let dl_27 = f_23 - dl_26;
    let inv_28 = 1.0_f64 / d_25;
    let s_29 = f_23 * inv_28;
    let sd_30 = -s_29;
    let sd_31 = -s_29;
    let sd_32 = f64::mul_add(sd_31, d_25, f_23);
    let sd_33 = f64::mul_add(sd_30, dl_27, sd_32);
    let sl_34 = sd_33 * inv_28;
    let z_35 = s_29 * s_29;
    let ze_36 = -z_35;
    let ze_37 = f64::mul_add(s_29, s_29, ze_36);
    let zl_38 = s_29 + s_29;
    let zl_39 = f64::mul_add(zl_38, sl_34, ze_37);
    let p_p_42 = f64::mul_add(z_35, 0.2857142857144384_f64, 0.3999999999999998_f64);
    let p_p_45 = f64::mul_add(z_35, 0.1818181884452401_f64, 0.22222222217787832_f64);
    let p_p_48 = f64::mul_add(z_35, 0.1333626743240595_f64, 0.1538455837174313_f64);
    let p_p_51 = f64::mul_add(z_35, 0.11982471839947331_f64, 0.1167570718259416_f64);
    let p_z2_52 = z_35 * z_35;
    let p_p_53 = f64::mul_add(p_z2_52, p_p_45, p_p_42);
    let p_p_54 = f64::mul_add(p_z2_52, p_p_51, p_p_48);
    let p_z4_55 = p_z2_52 * p_z2_52;
    let p_56 = f64::mul_add(p_z4_55, p_p_54, p_p_53);
    let zp_57 = z_35 * p_56;
    let c_59 = 0.6666666666666666_f64 + zp_57;
    let c0_60 = c_59 - 0.6666666666666666_f64;
    let c0_61 = zp_57 - c0_60;
    let cl_63 = c0_61 + 3.700743415417188e-17_f64;
    let g_64 = z_35 * c_59;
    let ge_65 = -g_64;
    let ge_66 = f64::mul_add(z_35, c_59, ge_65);
    let gl_67 = f64::mul_add(zl_39, c_59, ge_66);
    let gl_68 = f64::mul_add(z_35, cl_63, gl_67);
    let w_69 = s_29 * g_64;
    let we_70 = -w_69;
    let we_71 = f64::mul_add(s_29, g_64, we_70);
    let wl_72 = f64::mul_add(sl_34, g_64, we_71);
    let wl_73 = f64::mul_add(s_29, gl_68, wl_72);
    let a_74 = s_29 + s_29;
    let a_75 = a_74 + w_69;
    let ae_76 = a_75 - a_74;
    let ae_77 = w_69 - ae_76;
    let al_78 = f64::mul_add(2.0_f64, sl_34, wl_73);
    let al_79 = ae_77 + al_78;
    let kl_81 = kf_21 * 0.6931471805598903_f64;
    let b_82 = kl_81 + a_75;
    let bb_83 = b_82 - kl_81;
    let be_84 = b_82 - bb_83;
    let be_85 = kl_81 - be_84;
    let be_86 = a_75 - bb_83;
    let be_87 = be_85 + be_86;
    let bl_88 = be_87 + al_79;
    let bl_90 = f64::mul_add(kf_21, 5.497923018708371e-14_f64, bl_88);
    let h_91 = b_82 + bl_90;
    let l_92 = b_82 - h_91;
    let l_93 = l_92 + bl_90;
    let p_94 = bh_1 * h_91;
    let pe_95 = -p_94;
    let pe_96 = f64::mul_add(bh_1, h_91, pe_95);
    let pl_97 = f64::mul_add(bh_1, l_93, pe_96);
    let pl_98 = f64::mul_add(bl_2, h_91, pl_97);
    let over_100 = p_94 > 720.0_f64;
    let under_102 = p_94 < (-760.0_f64);
    let edge_103 = over_100 | under_102;
    let pc0_104 = if under_102 { (-760.0_f64) } else { p_94 };
    let pc_105 = if over_100 { 720.0_f64 } else { pc0_104 };
    let plc_107 = if edge_103 { 0.0_f64 } else { pl_98 };
    let kd_110 = f64::mul_add(pc_105, 1.4426950408889634_f64, 6755399441055744.0_f64);
    let n_111 = kd_110 - 6755399441055744.0_f64;
    let ki_112 = bits(kd_110);
    let rh_114 = f64::mul_add(n_111, (-0.6931471805599453_f64), pc_105);
    let q_116 = f64::mul_add(n_111, (-2.3190468138462996e-17_f64), plc_107);
    let r_117 = rh_114 + q_116;
    let rl_118 = rh_114 - r_117;
    let rl_119 = rl_118 + q_116;
    let r2_120 = r_117 * r_117;
    let q_p_123 = f64::mul_add(r_117, 0.1666666666666642_f64, 0.5000000000000011_f64);
    let q_p_126 = f64::mul_add(r_117, 0.008333333333490218_f64, 0.041666666666526596_f64);
    let q_p_129 = f64::mul_add(r_117, 0.0001984126951649935_f64, 0.001388888894451334_f64);
    let q_p_132 = f64::mul_add(r_117, 2.7557576800090774e-6_f64, 2.480149221124442e-5_f64);
    let q_p_135 = f64::mul_add(r_117, 2.5003327706230185e-8_f64, 2.7630560280471973e-7_f64);
    let q_z2_136 = r_117 * r_117;
    let q_p_137 = f64::mul_add(q_z2_136, q_p_126, q_p_123);
    let q_p_138 = f64::mul_add(q_z2_136, q_p_132, q_p_129);
    let q_z4_139 = q_z2_136 * q_z2_136;
    let q_p_140 = f64::mul_add(q_z4_139, q_p_138, q_p_137);
    let q_z8_141 = q_z4_139 * q_z4_139;
    let q_142 = f64::mul_add(q_z8_141, q_p_135, q_p_140);
    let head_143 = r_117 + 1.0_f64;
    let err_144 = head_143 - 1.0_f64;
    let err_145 = r_117 - err_144;
    let tail_146 = f64::mul_add(rl_119, r_117, rl_119);
    let tail_147 = err_145 + tail_146;
    let tail_148 = f64::mul_add(r2_120, q_142, tail_147);
    let plain_149 = f64::abs(pc_105);
    let plain_151 = plain_149 < 707.0_f64;
    let y_173 = if plain_151 {
        let sc_152 = i64::wrapping_shl(ki_112, 52);
        let sc_154 = i64::wrapping_add(sc_152, 0x3ff0000000000000_i64);
        let sc_155 = f64::from_bits(sc_154 as u64);
        let y_156 = sc_155 * head_143;
        let y_157 = f64::mul_add(sc_155, tail_148, y_156);
        y_157
    } else {
        let kk_159 = i64::wrapping_shl(ki_112, 32);
        let kk_160 = i64::wrapping_shr(kk_159, 32);
        let ka_162 = i64::wrapping_shr(kk_160, 1);
        let fa_163 = i64::wrapping_shl(ka_162, 52);
        let fa_164 = i64::wrapping_add(fa_163, 0x3ff0000000000000_i64);
        let fa_165 = f64::from_bits(fa_164 as u64);
        let fb_166 = i64::wrapping_sub(kk_160, ka_162);
        let fb_167 = i64::wrapping_shl(fb_166, 52);
        let fb_168 = i64::wrapping_add(fb_167, 0x3ff0000000000000_i64);
        let fb_169 = f64::from_bits(fb_168 as u64);
        let y_170 = head_143 + tail_148;
        let y_171 = y_170 * fa_165;
        let y_172 = y_171 * fb_169;
        y_172
    };
    y_173
}

#[inline(always)]
fn erfc_scaled(a_0: f64, al_1: f64, s_2: f64, sl_3: f64) -> f64 {
    let kd_6 = f64::mul_add(s_2, 1.4426950408889634_f64, 6755399441055744.0_f64);
    let n_7 = kd_6 - 6755399441055744.0_f64;
    let ki_8 = bits(kd_6);
    let rh_10 = f64::mul_add(n_7, (-0.6931471805599453_f64), s_2);
    let nl_12 = n_7 * (-2.3190468138462996e-17_f64);
    let rc_13 = nl_12 + sl_3;
    let r_14 = rh_10 + rc_13;
    let ra_15 = rh_10 - r_14;
    let rl_16 = ra_15 + rc_13;
    let r2_17 = r_14 * r_14;
    let p0_20 = f64::mul_add(r_14, 0.1666666666666642_f64, 0.5000000000000011_f64);
    let p1_23 = f64::mul_add(r_14, 0.008333333333490218_f64, 0.041666666666526596_f64);
    let p2_26 = f64::mul_add(r_14, 0.0001984126951649935_f64, 0.001388888894451334_f64);
    let p3_29 = f64::mul_add(r_14, 2.7557576800090774e-6_f64, 2.480149221124442e-5_f64);
    let p4_32 = f64::mul_add(r_14, 2.5003327706230185e-8_f64, 2.7630560280471973e-7_f64);
    let r4_33 = r2_17 * r2_17;
    let q0_34 = f64::mul_add(r2_17, p1_23, p0_20);
    let q1_35 = f64::mul_add(r2_17, p3_29, p2_26);
    let q2_36 = f64::mul_add(r4_33, p4_32, q1_35);
    let q_37 = f64::mul_add(r4_33, q2_36, q0_34);
    let head_39 = r_14 + 1.0_f64;
    let hr_40 = head_39 - 1.0_f64;
    let he_41 = r_14 - hr_40;
    let hl_42 = he_41 + rl_16;
    let tail_43 = f64::mul_add(r2_17, q_37, hl_42);
    let um_45 = a_0 - 4.0_f64;
    let up_46 = a_0 + 4.0_f64;
    let u_47 = um_45 / up_46;
    let u2_48 = u_47 * u_47;
    let c0_51 = f64::mul_add(u_47, (-0.1396211168405625_f64), 0.045495118625552514_f64);
    let c1_54 = f64::mul_add(u_47, 0.06809705425468977_f64, 0.01537965210261926_f64);
    let c2_57 = f64::mul_add(u_47, 0.09373283499847351_f64, (-0.1010390660362705_f64));
    let c3_60 = f64::mul_add(u_47, 0.03716751553502249_f64, (-0.06633036581313304_f64));
    let c4_63 = f64::mul_add(u_47, 0.005031970005295168_f64, (-0.01619773404516478_f64));
    let c5_66 = f64::mul_add(u_47, (-0.00019925688100764895_f64), (-0.000757773390083337_f64));
    let c6_69 = f64::mul_add(u_47, (-2.4398389818894052e-5_f64), 0.00015062218517129187_f64);
    let c7_72 = f64::mul_add(u_47, 5.707310737852859e-6_f64, (-1.1223681120935677e-5_f64));
    let c8_75 = f64::mul_add(u_47, (-8.207247983584935e-7_f64), 2.9727307464023943e-7_f64);
    let c9_78 = f64::mul_add(u_47, 1.0426350187848021e-7_f64, 7.010106138145301e-8_f64);
    let c10_81 = f64::mul_add(u_47, (-1.000715075140861e-8_f64), (-1.4559383823156271e-8_f64));
    let c_83 = f64::mul_add(u2_48, 7.636956017938189e-10_f64, c10_81);
    let c_84 = f64::mul_add(u2_48, c_83, c9_78);
    let c_85 = f64::mul_add(u2_48, c_84, c8_75);
    let c_86 = f64::mul_add(u2_48, c_85, c7_72);
    let c_87 = f64::mul_add(u2_48, c_86, c6_69);
    let c_88 = f64::mul_add(u2_48, c_87, c5_66);
    let c_89 = f64::mul_add(u2_48, c_88, c4_63);
    let c_90 = f64::mul_add(u2_48, c_89, c3_60);
    let c_91 = f64::mul_add(u2_48, c_90, c2_57);
    let c_92 = f64::mul_add(u2_48, c_91, c1_54);
    let c_93 = f64::mul_add(u2_48, c_92, c0_51);
    let g_95 = c_93 + 1.1875_f64;
    let ge_96 = 1.1875_f64 - g_95;
    let gl_97 = ge_96 + c_93;
    let a2_98 = a_0 + a_0;
    let d_99 = a2_98 + 1.0_f64;
    let d1_100 = d_99 - a2_98;
    let d2_101 = d_99 - d1_100;
    let d3_102 = a2_98 - d2_101;
    let d4_103 = 1.0_f64 - d1_100;
    let d5_104 = d3_102 + d4_103;
    let dl_106 = f64::mul_add(al_1, 2.0_f64, d5_104);
    let m_107 = head_39 * g_95;
    let nm_108 = -m_107;
    let m1_109 = f64::mul_add(head_39, g_95, nm_108);
    let m2_110 = f64::mul_add(head_39, gl_97, m1_109);
    let ml_111 = f64::mul_add(tail_43, g_95, m2_110);
    let v_112 = m_107 / d_99;
    let nv_113 = -v_112;
    let v1_114 = f64::mul_add(nv_113, d_99, m_107);
    let v2_115 = f64::mul_add(nv_113, dl_106, v1_114);
    let v3_116 = v2_115 + ml_111;
    let vl_117 = v3_116 / d_99;
    let w_118 = v_112 + vl_117;
    let kl_120 = i64::wrapping_shl(ki_8, 32);
    let k_121 = i64::wrapping_shr(kl_120, 32);
    let ka_123 = i64::wrapping_shr(k_121, 1);
    let kb_124 = i64::wrapping_sub(k_121, ka_123);
    let sha_126 = i64::wrapping_shl(ka_123, 52);
    let shb_127 = i64::wrapping_shl(kb_124, 52);
    let sba_129 = i64::wrapping_add(sha_126, 0x3ff0000000000000_i64);
    let sbb_130 = i64::wrapping_add(shb_127, 0x3ff0000000000000_i64);
    let fa_131 = f64::from_bits(sba_129 as u64);
    let fb_132 = f64::from_bits(sbb_130 as u64);
    let wa_133 = w_118 * fa_131;
    let y_134 = wa_133 * fb_132;
    y_134
}

#[inline(always)]
fn log_parts(x_0: f64, xl_1: f64) -> (f64, f64) {
    let small_3 = x_0 < 2.2250738585072014e-308_f64;
    let xs_5 = x_0 * 1.8014398509481984e16_f64;
    let xn_6 = if small_3 { xs_5 } else { x_0 };
    let koff_9 = if small_3 { 54_i64 } else { 0_i64 };
    let ix_10 = bits(xn_6);
    let t_12 = i64::wrapping_sub(ix_10, 0x3fe6a09e667f3bcd_i64);
    let ke_14 = i64::wrapping_shr(t_12, 52);
    let ki_15 = i64::wrapping_sub(ke_14, koff_9);
    let k_16 = ki_15 as f64;
    let te_18 = t_12 & (0xfff0000000000000_u64 as i64);
    let im_19 = i64::wrapping_sub(ix_10, te_18);
    let m_20 = f64::from_bits(im_19 as u64);
    let f_22 = m_20 - 1.0_f64;
    let d_24 = f_22 + 2.0_f64;
    let d2_25 = d_24 - 2.0_f64;
    let dl_26 = f_22 - d2_25;
    let s_27 = f_22 / d_24;
    let ns_28 = -s_27;
    let r0_29 = f64::mul_add(ns_28, d_24, f_22);
    let r1_30 = f64::mul_add(ns_28, dl_26, r0_29);
    let sl_31 = r1_30 / d_24;
    let z_32 = s_27 * s_27;
    let z2_33 = z_32 * z_32;
    let p0_36 = f64::mul_add(z_32, 0.4000000000000088_f64, 0.6666666666666666_f64);
    let p1_39 = f64::mul_add(z_32, 0.22222222392089008_f64, 0.28571428570801954_f64);
    let p2_42 = f64::mul_add(z_32, 0.15386241881938595_f64, 0.18181795600060793_f64);
    let p3_45 = f64::mul_add(z_32, 0.1308723619665962_f64, 0.13268714792348096_f64);
    let p_46 = f64::mul_add(z2_33, p3_45, p2_42);
    let p_47 = f64::mul_add(z2_33, p_46, p1_39);
    let p_48 = f64::mul_add(z2_33, p_47, p0_36);
    let s2_49 = s_27 + s_27;
    let kl_51 = k_16 * 0.6931471805598903_f64;
    let head_52 = kl_51 + s2_49;
    let hk_53 = head_52 - kl_51;
    let err_54 = s2_49 - hk_53;
    let t0_56 = f64::mul_add(k_16, 5.497923018708371e-14_f64, err_54);
    let t1_57 = f64::mul_add(sl_31, 2.0_f64, t0_56);
    let q_58 = xl_1 / x_0;
    let t2_59 = t1_57 + q_58;
    let sz_60 = s_27 * z_32;
    let t3_61 = f64::mul_add(sz_60, p_48, t2_59);
    let hi_62 = head_52 + t3_61;
    let lh_63 = head_52 - hi_62;
    let lo_64 = lh_63 + t3_61;
    (hi_62, lo_64)
}

#[inline(always)]
fn digamma_parts(a_0: f64, al_1: f64) -> (f64, f64) {
    let ai_2 = a_0 as i64;
    let left_4 = i64::wrapping_sub(8_i64, ai_2);
    let lim_6 = a_0 < 8.0_f64;
    let n_8 = if lim_6 { left_4 } else { 0_i64 };
    let (s_35, sl_36) = {
        let mut j_10 = 0_i64;
        let (mut t_11, mut tl_12) = (0.0_f64, 0.0_f64);
        loop {
            if j_10 >= n_8 {
                break (t_11, tl_12);
            }
            let jf_13 = j_10 as f64;
            let c_14 = a_0 + jf_13;
            let c1_15 = c_14 - a_0;
            let c2_16 = c_14 - c1_15;
            let c3_17 = a_0 - c2_16;
            let c4_18 = jf_13 - c1_15;
            let c5_19 = c3_17 + c4_18;
            let cl_20 = c5_19 + al_1;
            let q_22 = 1.0_f64 / c_14;
            let nq_23 = -q_22;
            let q1_24 = f64::mul_add(nq_23, c_14, 1.0_f64);
            let q2_25 = f64::mul_add(nq_23, cl_20, q1_24);
            let ql_26 = q2_25 * q_22;
            let u_27 = t_11 + q_22;
            let u1_28 = u_27 - t_11;
            let u2_29 = u_27 - u1_28;
            let u3_30 = t_11 - u2_29;
            let u4_31 = q_22 - u1_28;
            let u5_32 = u3_30 + u4_31;
            let u6_33 = u5_32 + ql_26;
            let ul_34 = u6_33 + tl_12;
            (t_11, tl_12) = (u_27, ul_34); j_10 = j_10.wrapping_add(1);
        }
    };
    let nf_37 = n_8 as f64;
    let b_38 = a_0 + nf_37;
    let b1_39 = b_38 - a_0;
    let b2_40 = b_38 - b1_39;
    let b3_41 = a_0 - b2_40;
    let b4_42 = nf_37 - b1_39;
    let b5_43 = b3_41 + b4_42;
    let bl_44 = b5_43 + al_1;
    let (gh_45, gl_46) = log_parts(b_38, bl_44);
    let i_47 = 1.0_f64 / b_38;
    let w_48 = i_47 * i_47;
    let w2_49 = w_48 * w_48;
    let d0_52 = f64::mul_add(w_48, (-0.008333333333278545_f64), 0.08333333333333333_f64);
    let d1_55 = f64::mul_add(w_48, (-0.004166644813006459_f64), 0.003968253911907783_f64);
    let d2_58 = f64::mul_add(w_48, (-0.020697932789646125_f64), 0.0075716885518819456_f64);
    let d_60 = f64::mul_add(w2_49, 0.06362043296372914_f64, d2_58);
    let d_61 = f64::mul_add(w2_49, d_60, d1_55);
    let d_62 = f64::mul_add(w2_49, d_61, d0_52);
    let nw_63 = -w_48;
    let e0_65 = i_47 * (-0.5_f64);
    let e1_66 = f64::mul_add(nw_63, d_62, e0_65);
    let h_67 = gh_45 - s_35;
    let h1_68 = h_67 - gh_45;
    let h2_69 = h_67 - h1_68;
    let h3_70 = gh_45 - h2_69;
    let h4_71 = s_35 + h1_68;
    let h5_72 = h3_70 - h4_71;
    let h6_73 = h5_72 + gl_46;
    let h7_74 = h6_73 - sl_36;
    let l_75 = h7_74 + e1_66;
    (h_67, l_75)
}

#[inline(always)]
pub(crate) fn hurwitz(s_0: i64, a_1: f64, al_2: f64, ref_3: f64) -> (f64, f64) {
    let s11_5 = i64::wrapping_add(s_0, 11_i64);
    let from_6 = s11_5 as f64;
    let (y_175, yl_176) = {
        let mut k_8 = 0_i64;
        let (mut t_9, mut tl_10) = (0.0_f64, 0.0_f64);
        loop {
            let kf_11 = k_8 as f64;
            let c_12 = a_1 + kf_11;
            let c1_13 = c_12 - a_1;
            let c2_14 = c_12 - c1_13;
            let c3_15 = a_1 - c2_14;
            let c4_16 = kf_11 - c1_13;
            let c5_17 = c3_15 + c4_16;
            let cl_18 = c5_17 + al_2;
            let q_19 = ref_3 / c_12;
            let nq_20 = -q_19;
            let q1_21 = f64::mul_add(nq_20, c_12, ref_3);
            let q2_22 = f64::mul_add(nq_20, cl_18, q1_21);
            let ql_23 = q2_22 / c_12;
            let (p_49, pl_50, qe_51, qel_52, left_53) = {
                let mut b_25 = 0_i64;
                let (mut u_26, mut ul_27, mut v_28, mut vl_29, mut e_30) = (1.0_f64, 0.0_f64, q_19, ql_23, s_0);
                loop {
                    let done_32 = e_30 <= 0_i64;
                    if done_32 {
                        break (u_26, ul_27, v_28, vl_29, e_30);
                    }
                    let bit_34 = e_30 & 1_i64;
                    let odd_35 = bit_34 != 0_i64;
                    let m_36 = u_26 * v_28;
                    let nm_37 = -m_36;
                    let m1_38 = f64::mul_add(u_26, v_28, nm_37);
                    let m2_39 = f64::mul_add(u_26, vl_29, m1_38);
                    let ml_40 = f64::mul_add(ul_27, v_28, m2_39);
                    let un_41 = if odd_35 { m_36 } else { u_26 };
                    let uln_42 = if odd_35 { ml_40 } else { ul_27 };
                    let w_43 = v_28 * v_28;
                    let nw_44 = -w_43;
                    let w1_45 = f64::mul_add(v_28, v_28, nw_44);
                    let v2_46 = v_28 + v_28;
                    let wl_47 = f64::mul_add(v2_46, vl_29, w1_45);
                    let en_48 = i64::wrapping_shr(e_30, 1);
                    (u_26, ul_27, v_28, vl_29, e_30) = (un_41, uln_42, w_43, wl_47, en_48); b_25 = b_25.wrapping_add(1);
                }
            };
            let last_54 = c_12 >= from_6;
            if last_54 {
                let sf_55 = s_0 as f64;
                let i_56 = 1.0_f64 / c_12;
                let i2_57 = i_56 * i_56;
                let ga10_59 = sf_55 + 19.0_f64;
                let gb10_61 = sf_55 + 20.0_f64;
                let gc10_62 = ga10_59 * gb10_61;
                let gd10_63 = gc10_62 * i2_57;
                let e10_66 = f64::mul_add(gd10_63, 5.5090028283602295e-18_f64, (-2.174868698558062e-16_f64));
                let ga9_68 = sf_55 + 17.0_f64;
                let gb9_70 = sf_55 + 18.0_f64;
                let gc9_71 = ga9_68 * gb9_70;
                let gd9_72 = gc9_71 * i2_57;
                let e9_74 = f64::mul_add(gd9_72, e10_66, 8.586062056277845e-15_f64);
                let ga8_76 = sf_55 + 15.0_f64;
                let gb8_78 = sf_55 + 16.0_f64;
                let gc8_79 = ga8_76 * gb8_78;
                let gd8_80 = gc8_79 * i2_57;
                let e8_82 = f64::mul_add(gd8_80, e9_74, (-3.3896802963225827e-13_f64));
                let ga7_84 = sf_55 + 13.0_f64;
                let gb7_86 = sf_55 + 14.0_f64;
                let gc7_87 = ga7_84 * gb7_86;
                let gd7_88 = gc7_87 * i2_57;
                let e7_90 = f64::mul_add(gd7_88, e8_82, 1.3382536530684679e-11_f64);
                let ga6_92 = sf_55 + 11.0_f64;
                let gb6_94 = sf_55 + 12.0_f64;
                let gc6_95 = ga6_92 * gb6_94;
                let gd6_96 = gc6_95 * i2_57;
                let e6_98 = f64::mul_add(gd6_96, e7_90, (-5.284190138687493e-10_f64));
                let ga5_100 = sf_55 + 9.0_f64;
                let gb5_102 = sf_55 + 10.0_f64;
                let gc5_103 = ga5_100 * gb5_102;
                let gd5_104 = gc5_103 * i2_57;
                let e5_106 = f64::mul_add(gd5_104, e6_98, 2.08767569878681e-8_f64);
                let ga4_108 = sf_55 + 7.0_f64;
                let gb4_110 = sf_55 + 8.0_f64;
                let gc4_111 = ga4_108 * gb4_110;
                let gd4_112 = gc4_111 * i2_57;
                let e4_114 = f64::mul_add(gd4_112, e5_106, (-8.267195767195768e-7_f64));
                let ga3_116 = sf_55 + 5.0_f64;
                let gb3_118 = sf_55 + 6.0_f64;
                let gc3_119 = ga3_116 * gb3_118;
                let gd3_120 = gc3_119 * i2_57;
                let e3_122 = f64::mul_add(gd3_120, e4_114, 3.306878306878307e-5_f64);
                let ga2_124 = sf_55 + 3.0_f64;
                let gb2_126 = sf_55 + 4.0_f64;
                let gc2_127 = ga2_124 * gb2_126;
                let gd2_128 = gc2_127 * i2_57;
                let e2_130 = f64::mul_add(gd2_128, e3_122, (-0.001388888888888889_f64));
                let ga1_131 = sf_55 + 1.0_f64;
                let gb1_133 = sf_55 + 2.0_f64;
                let gc1_134 = ga1_131 * gb1_133;
                let gd1_135 = gc1_134 * i2_57;
                let e1_137 = f64::mul_add(gd1_135, e2_130, 0.08333333333333333_f64);
                let si_138 = sf_55 * i_56;
                let bs_140 = f64::mul_add(si_138, e1_137, 0.5_f64);
                let sm_141 = sf_55 - 1.0_f64;
                let g0_142 = c_12 / sm_141;
                let ng0_143 = -g0_142;
                let g1_144 = f64::mul_add(ng0_143, sm_141, c_12);
                let g2_145 = g1_144 + cl_18;
                let g3_146 = g2_145 / sm_141;
                let g_147 = g0_142 + bs_140;
                let g4_148 = g0_142 - g_147;
                let g5_149 = g4_148 + bs_140;
                let gl_150 = g5_149 + g3_146;
                let x_151 = p_49 * g_147;
                let nx_152 = -x_151;
                let x1_153 = f64::mul_add(p_49, g_147, nx_152);
                let x2_154 = f64::mul_add(p_49, gl_150, x1_153);
                let xl_155 = f64::mul_add(pl_50, g_147, x2_154);
                let z_156 = t_9 + x_151;
                let z1_157 = z_156 - t_9;
                let z2_158 = z_156 - z1_157;
                let z3_159 = t_9 - z2_158;
                let z4_160 = x_151 - z1_157;
                let z5_161 = z3_159 + z4_160;
                let z6_162 = z5_161 + xl_155;
                let zl_163 = z6_162 + tl_10;
                break (z_156, zl_163);
            }
            let r_164 = t_9 + p_49;
            let r1_165 = r_164 - t_9;
            let r2_166 = r_164 - r1_165;
            let r3_167 = t_9 - r2_166;
            let r4_168 = p_49 - r1_165;
            let r5_169 = r3_167 + r4_168;
            let r6_170 = r5_169 + pl_50;
            let rl_171 = r6_170 + tl_10;
            let share_173 = r_164 * 8.470329472543003e-22_f64;
            let tiny_174 = p_49 < share_173;
            if tiny_174 {
                break (r_164, rl_171);
            }
            (t_9, tl_10) = (r_164, rl_171); k_8 = k_8.wrapping_add(1);
        }
    };
    (y_175, yl_176)
}

/// Hands every row to a macro: whether it is `plain` or has versions, what it computes, its inputs.
#[doc(hidden)]
#[macro_export]
macro_rules! rows {
    ($each:ident) => {
        $each! {
            plain "`add`: a + b (rounded once)." add(a: f64, b: f64);
            plain "`sub`: a - b (rounded once)." sub(a: f64, b: f64);
            plain "`mul`: a b (rounded once)." mul(a: f64, b: f64);
            plain "`div`: a / b (rounded once)." div(a: f64, b: f64);
            versions "`fma`: a b + c, rounded once." fma(a: f64, b: f64, c: f64);
            plain "`neg`: -x (exact)." neg(x: f64);
            plain "`abs`: the size of x, without its sign (exact)." abs(x: f64);
            plain "`min`: the lesser of a and b; b where one is NaN (exact)." min(a: f64, b: f64);
            plain "`max`: the greater of a and b; b where one is NaN (exact)." max(a: f64, b: f64);
            plain "`floor`: the largest integer not above x (exact)." floor(x: f64);
            plain "`round`: the nearest integer; of two, the even one (exact)." round(x: f64);
            plain "`flush`: x, but 0 where x is subnormal; keeps adjoints that fade away fast (exact)." flush(x: f64);
            plain "`stop_gradient`: x; no derivative passes (exact)." stop_gradient(x: f64);
            plain "`ceil`: the least integer not below x (exact)." ceil(x: f64);
            plain "`trunc`: x without its fraction (exact)." trunc(x: f64);
            plain "`sign`: -1 or 1 with the sign of x; zeros and NaN stay (exact)." sign(x: f64);
            plain "`copysign`: the size of a with the sign of b (exact)." copysign(a: f64, b: f64);
            plain "`relu`: x where it is positive, else 0 (exact)." relu(x: f64);
            plain "`clamp`: x moved into the range from lo to hi; hi where lo > hi (exact)." clamp(x: f64, lo: f64, hi: f64);
            versions "`rem`: the remainder of a / b with the quotient cut off: the sign of a (fmod of C) (exact)." rem(a: f64, b: f64);
            plain "`sqrt`: the square root (rounded once)." sqrt(x: f64);
            versions "`exp`: e to the power x (within 1 ulp)." exp(x: f64);
            versions "`log`: the natural logarithm (within 1 ulp)." log(x: f64);
            versions "`sin`: the sine (within 1 ulp)." sin(x: f64);
            versions "`cos`: the cosine (within 1 ulp)." cos(x: f64);
            versions "`tanh`: the hyperbolic tangent (within 2 ulp)." tanh(x: f64);
            versions "`cbrt`: the cube root, of negative numbers too (within 1 ulp)." cbrt(x: f64);
            versions "`exp2`: 2 to the power x (within 1 ulp)." exp2(x: f64);
            versions "`expm1`: e^x - 1, without cancellation near 0 (within 1 ulp)." expm1(x: f64);
            versions "`log2`: the logarithm to base 2 (within 1.5 ulp)." log2(x: f64);
            versions "`log10`: the logarithm to base 10 (within 1 ulp)." log10(x: f64);
            versions "`log1p`: log(1 + x), without cancellation near 0 (within 1 ulp)." log1p(x: f64);
            versions "`tan`: the tangent (within 1.5 ulp)." tan(x: f64);
            versions "`asin`: the inverse of the sine, from -pi/2 to pi/2 (within 1 ulp)." asin(x: f64);
            versions "`acos`: the inverse of the cosine, from 0 to pi (within 1 ulp)." acos(x: f64);
            versions "`atan`: the inverse of the tangent, from -pi/2 to pi/2 (within 1 ulp)." atan(x: f64);
            versions "`atan2`: the angle of the point with height a and width b, from -pi to pi (within 1 ulp)." atan2(a: f64, b: f64);
            versions "`sinh`: the hyperbolic sine (within 1 ulp)." sinh(x: f64);
            versions "`cosh`: the hyperbolic cosine (within 1 ulp)." cosh(x: f64);
            versions "`asinh`: the inverse of the hyperbolic sine (within 1 ulp)." asinh(x: f64);
            versions "`acosh`: the inverse of the hyperbolic cosine, for x >= 1 (within 1 ulp)." acosh(x: f64);
            versions "`atanh`: the inverse of the hyperbolic tangent, for -1 <= x <= 1 (within 1 ulp)." atanh(x: f64);
            versions "`pow`: a to the power b; NaN for negative a unless b is an integer (within 1.5 ulp)." pow(a: f64, b: f64);
            versions "`powi`: x to an integer power; 0^0 is 1 (within 1.5 ulp)." powi(x: f64, n: i64);
            versions "`hypot`: the root of a^2 + b^2, without overflow (within 1 ulp)." hypot(a: f64, b: f64);
            versions "`logaddexp`: log(e^a + e^b), without overflow (within 2 ulp)." logaddexp(a: f64, b: f64);
            versions "`xlogy`: x log(z), and 0 where x is 0 (within 1 ulp)." xlogy(x: f64, z: f64);
            versions "`erf`: the error function (within 1.5 ulp)." erf(x: f64);
            versions "`erfc`: 1 - erf(x), without cancellation (within 2 ulp)." erfc(x: f64);
            versions "`normcdf`: the distribution function of the standard normal (within 2 ulp)." normcdf(x: f64);
            versions "`norminv`: the inverse of normcdf, for p from 0 to 1 (within 2 ulp)." norminv(p: f64);
            versions "`lgamma`: the logarithm of the size of the gamma function (within 2 ulp)." lgamma(x: f64);
            versions "`polygamma`: the derivative of order n of digamma; digamma itself for n = 0 (within 2 ulp)." polygamma(n: i64, x: f64);
            versions "`sigmoid`: 1 / (1 + e^-x) (within 2 ulp)." sigmoid(x: f64);
            versions "`softplus`: log(1 + e^x) (within 2 ulp)." softplus(x: f64);
        }
    };
}
