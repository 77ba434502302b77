/**
 * A term as 31 bits of a hash. The Space is part of the hash: Spaces share no postings, and statistics of one reveal nothing about
 * another. Two terms of a Space with 100,000 words collide with a chance of 1 in 20,000.
 */
export function termHash(spaceId: string, stem: string): number {
  return murmur3(`${spaceId} ${stem}`) & 0x7fffffff
}

/** MurmurHash3 (x86, 32 bits; Austin Appleby, public domain) over UTF-16 units; unsigned. */
export function murmur3(text: string, seed = 0): number {
  let hash = seed
  for (let index = 0; index < text.length; index += 2) {
    const second = index + 1 < text.length ? text.charCodeAt(index + 1) : 0
    let block = (text.charCodeAt(index) | (second << 16)) >>> 0
    block = Math.imul(block, 0xcc9e2d51)
    block = (block << 15) | (block >>> 17)
    hash ^= Math.imul(block, 0x1b873593)
    hash = (hash << 13) | (hash >>> 19)
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0
  }
  hash ^= text.length
  hash ^= hash >>> 16
  hash = Math.imul(hash, 0x85ebca6b)
  hash ^= hash >>> 13
  hash = Math.imul(hash, 0xc2b2ae35)
  hash ^= hash >>> 16
  return hash >>> 0
}
