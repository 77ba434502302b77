;; The inner loop of exact vector search: dot products of one query with many vectors, sixteen dimensions a step (SIMD).
;; Made into dot-products.wasm.ts by `npm run write:wasm`.
(module
  (import "env" "memory" (memory 1))

  ;; vectors: count rows of `stride` signed bytes each; stride is a multiple of 16, padded with zeros.
  ;; query:   `stride` signed 16-bit values, small enough that no sum leaves 32 bits.
  ;; sums:    count signed 32-bit results.
  (func (export "dotProducts")
    (param $vectors i32) (param $count i32) (param $stride i32) (param $query i32) (param $sums i32)
    (local $end i32) (local $rowEnd i32) (local $factor i32)
    (local $even v128) (local $odd v128)
    (local.set $end (i32.add (local.get $sums) (i32.shl (local.get $count) (i32.const 2))))
    (block $done
      (loop $rows
        (br_if $done (i32.ge_u (local.get $sums) (local.get $end)))
        (local.set $rowEnd (i32.add (local.get $vectors) (local.get $stride)))
        (local.set $factor (local.get $query))
        (local.set $even (v128.const i32x4 0 0 0 0))
        (local.set $odd (v128.const i32x4 0 0 0 0))
        (loop $dimensions
          (local.set $even (i32x4.add (local.get $even)
            (i32x4.dot_i16x8_s (v128.load8x8_s (local.get $vectors)) (v128.load (local.get $factor)))))
          (local.set $odd (i32x4.add (local.get $odd)
            (i32x4.dot_i16x8_s (v128.load8x8_s offset=8 (local.get $vectors)) (v128.load offset=16 (local.get $factor)))))
          (local.set $vectors (i32.add (local.get $vectors) (i32.const 16)))
          (local.set $factor (i32.add (local.get $factor) (i32.const 32)))
          (br_if $dimensions (i32.lt_u (local.get $vectors) (local.get $rowEnd))))
        (local.set $even (i32x4.add (local.get $even) (local.get $odd)))
        (i32.store (local.get $sums)
          (i32.add
            (i32.add (i32x4.extract_lane 0 (local.get $even)) (i32x4.extract_lane 1 (local.get $even)))
            (i32.add (i32x4.extract_lane 2 (local.get $even)) (i32x4.extract_lane 3 (local.get $even)))))
        (local.set $sums (i32.add (local.get $sums) (i32.const 4)))
        (br $rows))))
)
