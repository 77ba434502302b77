import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { CorpusClient, Processed } from './client.ts'
import { wordRecall } from './word-recall.ts'

/** An entry of index.json, as far as it is used. */
export interface CorpusFile {
  id: string
  file: string
  format: string
  bytes: number
  outcome: 'text' | 'text_or_error' | 'no_text' | 'error'
  failure_class?: string
  expected_file?: string
  min_word_recall?: number
}

export interface FileResult {
  file: CorpusFile
  passed: boolean
  /** In words: `text, recall 0.95`, `error (corrupt)`. */
  expected: string
  outcome: string
  detail: string
  recall: number | null
}

/** The failure codes that match each failure class of the corpus, so that the user receives the right advice. */
const codesOfClass: Record<string, readonly string[]> = {
  password_protected: ['encrypted_pdf', 'encrypted_docx'],
  // Content that is plainly of another type than its name is refused at once.
  corrupt: ['corrupt_file', 'unsupported_content', 'unsupported_file_type'],
  empty: ['empty_file', 'no_text'],
  unsupported: ['unsupported_content', 'unsupported_file_type'],
  resource_limit: [
    'too_large_when_unpacked',
    'too_many_pages',
    'too_complex',
    'processing_timeout',
    'out_of_memory',
    'request_too_large',
  ],
  no_text_layer: ['no_text'],
}
/** Failures of ours: never a right outcome for a file. */
const ourCodes = new Set(['internal_error', 'embedding_failed', 'insufficient_quota'])
const defaultRecall = 0.95

/** Uploads one file, waits, and compares. */
export async function checkFile(client: CorpusClient, folder: string, file: CorpusFile): Promise<FileResult> {
  const processed = await client.process(path.basename(file.file), readFileSync(path.join(folder, file.file)))
  const recall = processed.status === 'ready' ? await measure(client, folder, file, processed.id) : null
  const result = {
    file,
    passed: isExpected(file, processed, recall),
    expected: describeExpected(file),
    outcome: describeOutcome(processed, recall),
    detail: 'message' in processed ? processed.message : '',
    recall,
  }
  if (processed.id !== null) await client.remove(processed.id)
  return result
}

async function measure(client: CorpusClient, folder: string, file: CorpusFile, id: string): Promise<number | null> {
  if (file.expected_file === undefined) return null
  return wordRecall(readFileSync(path.join(folder, file.expected_file), 'utf8'), await client.loadText(id))
}

function isExpected(file: CorpusFile, processed: Processed, recall: number | null): boolean {
  const hasReason = (processed.status === 'failed' || processed.status === 'refused') && !ourCodes.has(processed.code)
  switch (file.outcome) {
    case 'text':
      return processed.status === 'ready' && recall !== null && recall >= (file.min_word_recall ?? defaultRecall)
    case 'text_or_error':
      return processed.status === 'ready' || hasReason
    case 'no_text':
    case 'error': {
      // Pictures of text are read where text recognition is installed.
      if (processed.status === 'ready') return file.failure_class === 'no_text_layer' && processed.isRecognised
      if (!hasReason) return false
      const codes = codesOfClass[file.failure_class ?? ''] ?? (file.outcome === 'no_text' ? ['no_text'] : undefined)
      return codes === undefined || codes.includes(processed.code)
    }
  }
}

function describeExpected(file: CorpusFile): string {
  if (file.outcome === 'text') return `text, recall ${file.min_word_recall ?? defaultRecall}`
  return file.failure_class === undefined ? file.outcome : `${file.outcome} (${file.failure_class})`
}

function describeOutcome(processed: Processed, recall: number | null): string {
  switch (processed.status) {
    case 'ready':
      return recall === null ? 'text' : `text, recall ${recall.toFixed(4)}`
    case 'stuck':
      return 'still processing'
    case 'failed':
    case 'refused':
      return `${processed.status}: ${processed.code}`
  }
}
