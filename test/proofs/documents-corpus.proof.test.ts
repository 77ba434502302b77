import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkFile, type CorpusFile } from '../../scripts/corpus/check-file.ts'
import { createCorpusClient } from '../../scripts/corpus/client.ts'
import { startPortico } from '../harness/portico.ts'
import { sharedDataFolder } from '../harness/shared-data.ts'

const folder = sharedDataFolder('docs')
const files = folder
  ? (JSON.parse(readFileSync(path.join(folder, 'index.json'), 'utf8')) as { files: CorpusFile[] }).files
  : []
describe.skipIf(files.length === 0)(
  `the corpus${files.length === 0 ? ' (skipped: shared data not found)' : ''}`,
  () => {
    it('has the expected outcome for each file uploaded through the API', async () => {
      await using portico = await startPortico()
      const client = await createCorpusClient(portico)
      const different: string[] = []
      const queue = [...files]
      const worker = async () => {
        for (let file = queue.shift(); file; file = queue.shift()) {
          const { passed, expected, outcome } = await checkFile(client, folder!, file)
          if (!passed) different.push(`${file.id}: expected ${expected}, got ${outcome}`)
        }
      }
      await Promise.all(Array.from({ length: 6 }, worker))
      expect(different).toEqual([])
      expect(await portico.operator('GET', '/api/audit')).toMatchObject({
        status: 200,
        body: { ok: true, findings: [] },
      })
    }, 180_000)
  },
)
