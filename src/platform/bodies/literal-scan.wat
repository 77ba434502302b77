;; Reads JSON string literals, sixteen bytes a step (SIMD): where one ends, whether it is valid, how many characters it has, and how many of its
;; last bytes are of base64.
;; Made into literal-scan.wasm.ts by `npm run write:wasm`.
(module
  ;; One page for the bytes.
  (memory (export "memory") 1)

  ;; Part of an escape sequence that is still to come: 0 none, 1 the byte after the backslash, 2 to 5 one to four hexadecimal digits.
  (global $escape (export "escape") (mut i32) (i32.const 0))
  ;; Bytes that begin a character of UTF-8.
  (global $leads (export "leads") (mut i32) (i32.const 0))
  ;; Escape sequences of two bytes, and those of six.
  (global $short (export "shortEscapes") (mut i32) (i32.const 0))
  (global $long (export "longEscapes") (mut i32) (i32.const 0))
  ;; Bytes since the last one that is not in the literal of base64: the alphabet, padding, and a backslash with what it escapes.
  (global $base64 (export "base64Bytes") (mut i32) (i32.const 0))
  ;; Other bytes that may follow before the literal counts as prose, whose bytes are not compared with the alphabet: at the beginning,
  ;; more than the head of a data URL has.
  (global $others (export "othersLeft") (mut i32) (i32.const 0))

  ;; Continues a literal at $at. Returns the position of its closing quote, $end if that is not among the bytes, -1 if it is not valid.
  ;; The globals are those of this literal.
  (func (export "scan") (param $at i32) (param $end i32) (result i32)
    (local $bytes v128) (local $marks i32) (local $byte i32) (local $start i32)
    (loop $next
      (block $single
        (br_if $single (global.get $escape))
        ;; The alphabet of base64, which has neither marks nor characters of several bytes.
        (if (global.get $others)
          (then
            (local.set $start (local.get $at))
            (block $other
              (loop $alphabet
                (br_if $other (i32.gt_u (i32.add (local.get $at) (i32.const 16)) (local.get $end)))
                (local.set $bytes (v128.load (local.get $at)))
                (br_if $other (i32.eqz (i8x16.all_true (call $ofAlphabet (local.get $bytes)))))
                (local.set $at (i32.add (local.get $at) (i32.const 16)))
                (br $alphabet)))
            (global.set $leads (i32.add (global.get $leads) (i32.sub (local.get $at) (local.get $start))))
            (global.set $base64 (i32.add (global.get $base64) (i32.sub (local.get $at) (local.get $start))))
            (br $single)))
        ;; Plain bytes, as long as sixteen of them are left.
        (loop $plain
          (br_if $single (i32.gt_u (i32.add (local.get $at) (i32.const 16)) (local.get $end)))
          (local.set $bytes (v128.load (local.get $at)))
          (local.set $marks (i8x16.bitmask (v128.or
            (v128.or
              (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x22)))
              (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x5c))))
            (i8x16.lt_u (local.get $bytes) (i8x16.splat (i32.const 0x20))))))
          (if (local.get $marks)
            (then
              ;; Only the bytes before the first mark.
              (local.set $marks (i32.ctz (local.get $marks)))
              (global.set $leads (i32.add (global.get $leads) (i32.popcnt (i32.and
                (i8x16.bitmask (i8x16.gt_s (local.get $bytes) (i8x16.splat (i32.const -65))))
                (i32.sub (i32.shl (i32.const 1) (local.get $marks)) (i32.const 1))))))
              (local.set $at (i32.add (local.get $at) (local.get $marks)))
              (br $single)))
          (global.set $leads (i32.add (global.get $leads) (i32.popcnt
            (i8x16.bitmask (i8x16.gt_s (local.get $bytes) (i8x16.splat (i32.const -65)))))))
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br $plain)))

      (if (i32.ge_u (local.get $at) (local.get $end)) (then (return (local.get $end))))
      (local.set $byte (i32.load8_u (local.get $at)))
      (if (i32.lt_u (local.get $byte) (i32.const 0x20)) (then (return (i32.const -1))))
      (if (i32.eqz (global.get $escape))
        (then
          (if (i32.eq (local.get $byte) (i32.const 0x22)) (then (return (local.get $at))))
          (if (i32.eq (local.get $byte) (i32.const 0x5c)) (then (global.set $escape (i32.const 1)))))
        (else
          (if (i32.eq (global.get $escape) (i32.const 1))
            (then
              (if (i32.eq (local.get $byte) (i32.const 0x75))
                (then
                  (global.set $long (i32.add (global.get $long) (i32.const 1)))
                  (global.set $escape (i32.const 5)))
                (else
                  (if (i32.eqz (call $isEscaped (local.get $byte))) (then (return (i32.const -1))))
                  (global.set $short (i32.add (global.get $short) (i32.const 1)))
                  (global.set $escape (i32.const 0)))))
            (else
              (if (i32.eqz (call $isHex (local.get $byte))) (then (return (i32.const -1))))
              (global.set $escape (i32.sub (global.get $escape) (i32.const 1)))
              (if (i32.eq (global.get $escape) (i32.const 1)) (then (global.set $escape (i32.const 0))))))))
      (global.set $leads (i32.add (global.get $leads) (i32.ne (i32.and (local.get $byte) (i32.const 0xc0)) (i32.const 0x80))))
      (if (global.get $others)
        (then
          (if (call $isOfBase64 (local.get $byte))
            (then (global.set $base64 (i32.add (global.get $base64) (i32.const 1))))
            (else
              (global.set $base64 (i32.const 0))
              (global.set $others (i32.sub (global.get $others) (i32.const 1)))))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br $next))
    (unreachable))

  ;; Lanes of the alphabet and of padding are not 0.
  (func $ofAlphabet (param $bytes v128) (result v128)
    (v128.or
      (v128.or
        ;; a to z in either case; slash and digits.
        (i8x16.le_u
          (i8x16.sub (v128.or (local.get $bytes) (i8x16.splat (i32.const 0x20))) (i8x16.splat (i32.const 0x61)))
          (i8x16.splat (i32.const 25)))
        (i8x16.le_u
          (i8x16.sub (local.get $bytes) (i8x16.splat (i32.const 0x2f)))
          (i8x16.splat (i32.const 10))))
      (v128.or
        (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x2b)))
        (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x3d))))))

  (func $isOfBase64 (param $byte i32) (result i32)
    (i32.or
      (i32.eq (local.get $byte) (i32.const 0x5c))
      (i8x16.all_true (call $ofAlphabet (i8x16.splat (local.get $byte))))))

  ;; One of "\/bfnrt.
  (func $isEscaped (param $byte i32) (result i32)
    (i32.or
      (i32.or
        (i32.or (i32.eq (local.get $byte) (i32.const 0x22)) (i32.eq (local.get $byte) (i32.const 0x5c)))
        (i32.or (i32.eq (local.get $byte) (i32.const 0x2f)) (i32.eq (local.get $byte) (i32.const 0x62))))
      (i32.or
        (i32.or (i32.eq (local.get $byte) (i32.const 0x66)) (i32.eq (local.get $byte) (i32.const 0x6e)))
        (i32.or (i32.eq (local.get $byte) (i32.const 0x72)) (i32.eq (local.get $byte) (i32.const 0x74))))))

  (func $isHex (param $byte i32) (result i32)
    (i32.or
      (i32.lt_u (i32.sub (local.get $byte) (i32.const 0x30)) (i32.const 10))
      (i32.lt_u (i32.sub (i32.or (local.get $byte) (i32.const 0x20)) (i32.const 0x61)) (i32.const 6))))
)
