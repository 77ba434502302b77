import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { bundleFingerprint, findBundle } from './bundle.ts'

let folder: string
beforeEach(() => void (folder = fs.mkdtempSync(path.join(os.tmpdir(), 'portico-bundle-'))))
afterEach(() => fs.rmSync(folder, { recursive: true }))

const write = (file: string, text: string) => {
  fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
  fs.writeFileSync(path.join(folder, file), text)
}

describe('findBundle', () => {
  it('finds the bundle of these sources, and no other', () => {
    expect(findBundle(path.join(folder, 'missing'))).toBeUndefined()
    write('0000000000000000/process.js', '')
    expect(findBundle(folder)).toBeUndefined()
    const own = `${bundleFingerprint()}/process.js`
    write(own, '')
    expect(findBundle(folder)).toBe(pathToFileURL(path.join(folder, own)).href)
  })
})

describe('bundleFingerprint', () => {
  it('changes with the text and the name of each source, and not with tests', () => {
    write('one.ts', 'a')
    write('room/two.ts', 'b')
    const first = bundleFingerprint(folder)
    write('one.test.ts', 'c')
    write('testing/three.ts', 'd')
    expect(bundleFingerprint(folder)).toBe(first)
    write('room/two.ts', 'c')
    const second = bundleFingerprint(folder)
    expect(second).not.toBe(first)
    fs.renameSync(path.join(folder, 'one.ts'), path.join(folder, 'four.ts'))
    expect(bundleFingerprint(folder)).not.toBe(second)
  })
})
