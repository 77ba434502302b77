export interface StreamDecoder {
  decode(bytes?: Uint8Array, options?: { stream: boolean }): string
}
