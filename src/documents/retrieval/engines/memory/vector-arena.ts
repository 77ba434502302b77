import { dotProductsModule } from './dot-products.wasm.ts'

/** WebAssembly memory with the vectors of all Spaces in blocks, and their dot products by SIMD (dot-products.wat). */
export type VectorArena = ReturnType<typeof createVectorArena>

const pageBytes = 65_536
/** One block: 170 vectors of 384 dimensions. Small enough that a small Space wastes little. */
export const blockBytes = pageBytes
/** 4 GB, the limit of 32-bit addresses. */
const maximumPages = 65_536
/** Stored dimensions are signed bytes; a query's are 13 bits, so that 4,000 products of both stay within 32 bits. */
const queryLimit = 4_095
const queryAddress = 0
/** The largest query has 4,000 dimensions of 2 bytes, padded. The sums of one block follow it in the first page. */
const sumsAddress = 8_192

/** The part that is used here; TypeScript declares it with the types of browsers only. */
declare const WebAssembly: {
  Memory: new (pages: { initial: number; maximum: number }) => { buffer: ArrayBuffer; grow(pages: number): number }
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: object) => { exports: object }
}

interface DotProducts {
  dotProducts(vectors: number, count: number, stride: number, query: number, sums: number): void
}

export function createVectorArena() {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: maximumPages })
  const module = new WebAssembly.Module(Buffer.from(dotProductsModule, 'base64'))
  const { dotProducts } = new WebAssembly.Instance(module, { env: { memory } }).exports as unknown as DotProducts
  const freeBlocks: number[] = []
  let bytes = new Int8Array(memory.buffer)

  return {
    /** The address of a free block of `blockBytes`, all zeros. Throws when 4 GB are full. */
    allocate(): number {
      const block = freeBlocks.pop()
      if (block !== undefined) {
        // Vectors are padded with zeros to the step of the loop.
        bytes.fill(0, block, block + blockBytes)
        return block
      }
      const pages = memory.grow(1)
      bytes = new Int8Array(memory.buffer)
      return pages * pageBytes
    },
    free: (block: number) => void freeBlocks.push(block),
    /** All bytes; a new view after growth, so do not keep it. */
    bytes: (): Int8Array => bytes,
    /** Sets the query of the following calls: padded to `stride` values. Returns the factor that converts sums to its scale. */
    setQuery(query: Float32Array, stride: number): number {
      const largest = query.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
      const length = Math.sqrt(query.reduce((sum, value) => sum + value * value, 0))
      const values = new Int16Array(memory.buffer, queryAddress, stride).fill(0)
      if (largest === 0) return 0
      for (const [index, value] of query.entries()) values[index] = Math.round((value / largest) * queryLimit)
      return largest / queryLimit / length
    },
    /** Sums of products of the query with `count` rows from `address` on; valid until the next call. */
    dotProducts(address: number, count: number, stride: number): Int32Array {
      dotProducts(address, count, stride, queryAddress, sumsAddress)
      return new Int32Array(memory.buffer, sumsAddress, count)
    },
  }
}
