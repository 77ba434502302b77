import type { Database, Queryable } from '../../platform/database/index.ts'
import { isObject, version } from '../../platform/kernel/index.ts'
import type { ProcessingRow } from '../documents/index.ts'
import type { KeptPage } from './ocr/recogniser.ts'

/** A page of dense text takes 20 Ki; a larger one is read again. */
const maximumPageCharacters = 128 * 1024

export type RecognisedPages = ReturnType<typeof createRecognisedPages>

/** The pages of a document in processing that were read from their pictures, so that an interrupted run does not read them again. */
export function createRecognisedPages(
  database: Database,
  { id, organisationId }: Pick<ProcessingRow, 'id' | 'organisationId'>,
  languages: readonly string[],
) {
  const own = database.for(organisationId)
  const maker = `${version} ${languages.join('+')}`
  let saving: Promise<unknown> = Promise.resolve()

  return {
    async load(): Promise<KeptPage[]> {
      const rows = await own.query<{ result: unknown }>(
        'select result from recognised_pages where document_id = $1 and maker = $2 order by page',
        [id, maker],
      )
      return rows.flatMap(({ result }) => (isObject(result) ? [result as unknown as KeptPage] : []))
    },

    /** Resolves to false if the page is not kept: it is too large, or the document is no longer processing. */
    keep(page: KeptPage): Promise<boolean> {
      const result = JSON.stringify(page)
      if (result.length > maximumPageCharacters) return Promise.resolve(false)
      const saved = own.execute(
        `insert into recognised_pages (organisation_id, document_id, page, maker, result)
         select organisation_id, id, $2, $3, $4::json from documents where id = $1 and status = 'processing'
         on conflict (document_id, page) do update set maker = excluded.maker, result = excluded.result`,
        [id, page.page, maker, result],
      )
      saving = Promise.allSettled([saving, saved])
      return saved.then((rows) => rows > 0)
    },

    /** Resolves when all pages that were given are kept. */
    saved: () => saving,

    async remove(queryable: Queryable = own): Promise<void> {
      await queryable.execute('delete from recognised_pages where document_id = $1', [id])
    },
  }
}
