import path from 'node:path'
import type { DocumentFormat, ExtractedBlock } from '../extraction.ts'
import { type AttachedFile, type PartReader, readAttached, roomForFile } from './attached-files.ts'
import type { ExtractorInput } from './extractor.ts'
import type { OfficePackage, Relationship } from './office-package.ts'
import { isOleContainer, readOleStreams } from './ole-container.ts'

/** Reads the files of other programs that an office file shows as objects, each once, as attached files. */
export function createEmbeddedObjects(archive: OfficePackage, input: ExtractorInput, readPart: PartReader) {
  const seen = new Set<string>()
  return {
    /** `leftOut` is called if it is not read. */
    async *read(relationship: Relationship | undefined, leftOut: () => void): AsyncGenerator<ExtractedBlock[]> {
      if (!input.readsEmbedded || !relationship || relationship.isExternal) return leftOut()
      const { target } = relationship
      if (seen.has(target)) return
      seen.add(target)
      const bytes = await archive.readBytes(target, roomForFile(input))
      const file = bytes && fileOf(path.posix.basename(target), bytes)
      if (!file) return leftOut()
      yield* readAttached(file, input, readPart, { skip: leftOut })
    },
  }
}

/** The file of an object, which can be in a container; null where only its program knows its form. */
function fileOf(name: string, bytes: Buffer): AttachedFile | null {
  if (!isOleContainer(bytes)) return { name, type: '', content: () => bytes }
  const streams = readOleStreams(bytes)
  const packaged = streams.get('\u0001Ole10Native')
  if (packaged) return packagedFile(packaged())
  // A document of Office, by its own name, or of another program that has registered itself as a server of objects.
  const content = (streams.get('Package') ?? streams.get('CONTENTS'))?.()
  const format = content && packageFormat(content)
  return format ? { name: `${path.posix.parse(name).name}.${format}`, type: '', format, content: () => content } : null
}

/** A file of any type that was dropped into the document ([MS-OLEDS] 2.3.6 and the layout of the Windows packager). */
function packagedFile(bytes: Buffer): AttachedFile | null {
  // The size of all, a number, the file's name, its path, two numbers, the path of a copy with its length, and the file with its size.
  let at = 6
  const text = () => {
    const end = bytes.indexOf(0, at)
    const found = end === -1 ? '' : bytes.toString('latin1', at, end)
    at = end === -1 ? bytes.length : end + 1
    return found
  }
  const name = path.win32.basename(text())
  text()
  at += 4
  if (name === '' || at + 4 > bytes.length) return null
  at += 4 + bytes.readUInt32LE(at)
  if (at + 4 > bytes.length) return null
  const content = bytes.subarray(at + 4, at + 4 + bytes.readUInt32LE(at))
  return { name, type: '', content: () => content }
}

const folders: readonly [string, DocumentFormat][] = [
  ['word/', 'docx'],
  ['xl/', 'xlsx'],
  ['ppt/', 'pptx'],
]

/** By the names of its parts, which are in a list at the end of a zip. */
function packageFormat(bytes: Buffer): DocumentFormat | undefined {
  const head = bytes.toString('latin1', 0, 5)
  if (head === '%PDF-') return 'pdf'
  if (!head.startsWith('PK')) return undefined
  const list = bytes.toString('latin1', Math.max(0, bytes.length - 64 * 1024))
  return folders.find(([folder]) => list.includes(folder))?.[1]
}
