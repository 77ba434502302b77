/** Reads at most `bytes` of a body as UTF-8; `isCut`: there was more. The rest is not received. */
export async function readBounded(
  response: Pick<Response, 'body'>,
  bytes: number,
): Promise<{ text: string; isCut: boolean }> {
  const chunks: Uint8Array[] = []
  let length = 0
  // Decoded bytes: a small packed answer may become a large one.
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk)
    length += chunk.length
    // Leaving the loop cancels the body.
    if (length > bytes) break
  }
  const text = new TextDecoder().decode(Buffer.concat(chunks).subarray(0, bytes))
  return { text, isCut: length > bytes }
}

/** The first `characters` of a text, cut at no surrogate pair. */
export function cutText(text: string, characters: number): { text: string; isCut: boolean } {
  return text.length <= characters
    ? { text, isCut: false }
    : { text: text.slice(0, characters).replace(/[\ud800-\udbff]$/, ''), isCut: true }
}

/** What PostgreSQL does not store, and control characters, which no model needs. */
export const cleanText = (text: string): string =>
  // oxlint-disable-next-line no-control-regex
  text.toWellFormed().replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g, '')
