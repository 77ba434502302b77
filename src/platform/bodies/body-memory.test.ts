import { expect, it } from 'vitest'
import { endLoan, freeMemory, lend } from './json-text.ts'

const chunk = () => Buffer.allocUnsafeSlow(1_000)
const isFree = ({ buffer }: Buffer) => (buffer as ArrayBuffer).detached

it('frees chunks that nothing shares, also where they are free already', () => {
  const chunks = [chunk(), chunk()]
  freeMemory(chunks)
  freeMemory(chunks)
  expect(chunks.map(isFree)).toEqual([true, true])
})

it('keeps memory that other buffers share', () => {
  const shared = chunk()
  freeMemory([shared.subarray(0, 500), Buffer.from('from the pool')])
  expect(isFree(shared)).toBe(false)
})

it('keeps lent memory until each loan has ended', () => {
  const lentTwice = chunk()
  lend([lentTwice.subarray(10, 20)])
  lend([lentTwice])
  endLoan([lentTwice])
  freeMemory([lentTwice])
  expect(isFree(lentTwice)).toBe(false)
  endLoan([lentTwice])
  freeMemory([lentTwice])
  expect(isFree(lentTwice)).toBe(true)
})
