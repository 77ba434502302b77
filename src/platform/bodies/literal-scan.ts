import { literalScanModule } from './literal-scan.wasm.ts'

/** What was read of one literal so far. */
export interface LiteralState {
  /** The part of an escape sequence that is still to come; 0: none. */
  escape: number
  /** Bytes that begin a character. */
  leads: number
  /** Escape sequences of two bytes, and those of six. */
  shortEscapes: number
  longEscapes: number
  /** Bytes at the end that are in the literal of base64: the alphabet, padding, and escape sequences. 0 in prose. */
  base64Bytes: number
  /** Other bytes that may follow before the literal counts as prose. */
  othersLeft: number
}

/**
 * Of a literal of which nothing was read. A data URL has fewer than 256 other bytes before its data, see `maximumHeadCharacters` in media.ts;
 * any other text of base64 has none.
 */
export const newLiteral = (isDataUrl: boolean): LiteralState => ({
  escape: 0,
  leads: 0,
  shortEscapes: 0,
  longEscapes: 0,
  base64Bytes: 0,
  othersLeft: isDataUrl ? 256 : 1,
})

/** Most bytes of one `load`. */
export const maximumScanBytes = 65_536

/** The part that is used here; TypeScript declares it with the types of browsers only. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object) => { exports: object }
}

type Counter = { value: number }

interface LiteralScanExports {
  memory: { buffer: ArrayBuffer }
  scan(at: number, end: number): number
  escape: Counter
  leads: Counter
  shortEscapes: Counter
  longEscapes: Counter
  base64Bytes: Counter
  othersLeft: Counter
}

/** Finds the ends of JSON string literals and validates them (literal-scan.wat): 0.1 to 0.2 ns a byte, 1.2 of dense escapes. */
function createLiteralScan() {
  const module = new WebAssembly.Module(Buffer.from(literalScanModule, 'base64'))
  const { memory, scan, ...counters } = new WebAssembly.Instance(module).exports as LiteralScanExports
  const loaded = new Uint8Array(memory.buffer)
  return {
    /** Copies at most `maximumScanBytes` to be read; positions of `scan` are those in them. */
    load: (bytes: Uint8Array) => loaded.set(bytes),
    /** Continues a literal. Returns the position of its closing quote, `end` if it is not there, -1 if the literal is not valid. */
    scan(at: number, end: number, state: LiteralState): number {
      counters.escape.value = state.escape
      counters.leads.value = state.leads
      counters.shortEscapes.value = state.shortEscapes
      counters.longEscapes.value = state.longEscapes
      counters.base64Bytes.value = state.base64Bytes
      counters.othersLeft.value = state.othersLeft
      const position = scan(at, end)
      state.escape = counters.escape.value
      state.leads = counters.leads.value
      state.shortEscapes = counters.shortEscapes.value
      state.longEscapes = counters.longEscapes.value
      state.base64Bytes = counters.base64Bytes.value
      state.othersLeft = counters.othersLeft.value
      return position
    },
  }
}

let scan: ReturnType<typeof createLiteralScan> | undefined

/** One for all bodies, since nothing of it is used after a turn of the event loop. */
export const sharedLiteralScan = () => (scan ??= createLiteralScan())
