import '@mantine/core/styles/Tabs.css'
import { Alert, Button, Skeleton, Tabs } from '@mantine/core'
import { IconArrowLeft, IconDownload } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import type { DocumentFailureCode } from '@contract/documents.ts'
import type { ChunkBody } from '@contract/document-progress.ts'
import type { DocumentViewBody } from '@contract/document-viewer.ts'
import { Suspense, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { withTexts } from '../../i18n/translations.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { ButtonLink } from '../../ui/link.tsx'
import { Page } from '../../ui/page.tsx'
import { readAnswerPlace } from '../spaces/chat/answer-place.ts'
import { ChunkList } from './chunk-list.tsx'
import { DocumentFacts } from './document-facts.tsx'
import { type PassageTarget, targetOfAddress, targetOfChunk } from './passage-target.ts'
import { documentRoute, documentViewQuery, type PassageAddress } from './routes.tsx'
import styles from './viewer.module.css'

const FailureText = lazyPart(() => withTexts('failures', import('../../ui/failures/failure-text.tsx')), 'FailureText')
const TextDocument = lazyPart(() => import('./text/text-document.tsx'), 'TextDocument')
const PageText = lazyPart(() => import('./page-text.tsx'), 'PageText')
const PdfDocument = lazyPart(() => import('./pdf/pdf-document.tsx'), 'PdfDocument')

/** A document next to its facts and chunks, at the passage of the address. */
export function DocumentPage() {
  const { documentId } = documentRoute.useParams()
  const address = documentRoute.useSearch()
  const { data } = useSuspenseQuery(documentViewQuery(documentId, address.from))
  // Another citation of the same document starts again, without the chunk that was selected before.
  return <DocumentView key={JSON.stringify([documentId, address])} view={data} address={address} />
}

function DocumentView({ view, address }: { view: DocumentViewBody; address: PassageAddress }) {
  const { t } = useTranslation('viewer')
  const [chosen, setChosen] = useState<{ chunk?: ChunkBody; page?: number }>({})
  const [page, setPage] = useState(address.page ?? 1)
  const target = useMemo(() => {
    if (chosen.chunk) return targetOfChunk(chosen.chunk)
    return targetOfAddress(chosen.page === undefined ? address : { page: chosen.page })
  }, [chosen, address])
  const { document } = view
  return (
    <Page
      title={document.name}
      description={<Summary document={document} />}
      actions={<Actions id={document.id} answer={address.answer} />}
    >
      <Notice document={document} />
      <div className={styles['panes']}>
        <section className={styles['pane']} aria-label={t('document')}>
          <Content view={view} target={target} onPage={setPage} />
        </section>
        <aside className={styles['pane']} aria-label={t('panel')}>
          <Panel
            view={view}
            page={page}
            selected={chosen.chunk}
            onSelect={(chunk) => setChosen({ chunk })}
            onPage={(wanted) => setChosen({ page: wanted })}
          />
        </aside>
      </div>
    </Page>
  )
}

function Summary({ document }: Pick<DocumentViewBody, 'document'>) {
  const { t } = useTranslation('viewer')
  const format = useFormat()
  const { mimeType, sizeBytes, pageCount, chunkCount } = document
  const parts = [
    mimeType === 'application/pdf' ? 'PDF' : '',
    format.bytes(sizeBytes),
    pageCount === null ? '' : t('summary.pages', { count: pageCount, pages: format.number(pageCount) }),
    chunkCount === null ? '' : t('summary.chunks', { count: chunkCount, chunks: format.number(chunkCount) }),
  ]
  return parts.filter((part) => part !== '').join(' · ')
}

function Actions({ id, answer }: { id: string; answer: string | undefined }) {
  const { t } = useTranslation('viewer')
  const { organisationId, spaceId } = documentRoute.useParams()
  const place = readAnswerPlace(answer)
  return (
    <>
      {place && (
        <ButtonLink
          to="/organisations/$organisationId/spaces/$spaceId/chat"
          params={{ organisationId, spaceId }}
          search={place as never}
          resetScroll={false}
          variant="default"
          leftSection={<IconArrowLeft size={16} aria-hidden />}
        >
          {t('backToAnswer')}
        </ButtonLink>
      )}
      <Download id={id} />
    </>
  )
}

function Download({ id }: { id: string }) {
  const { t } = useTranslation('viewer')
  return (
    <Button
      component="a"
      href={`/api/documents/${encodeURIComponent(id)}/content`}
      download
      variant="default"
      leftSection={<IconDownload size={16} />}
    >
      {t('download')}
    </Button>
  )
}

function Failure({ code }: { code: DocumentFailureCode }) {
  return (
    <Suspense>
      <FailureText code={code} />
    </Suspense>
  )
}

/** Above a pdf, which is shown in every state. */
function Notice({ document: { status, stage, error, mimeType } }: Pick<DocumentViewBody, 'document'>) {
  const { t } = useTranslation('viewer')
  if (status === 'ready' || mimeType !== 'application/pdf') return null
  return status === 'failed' ? (
    <Alert color="red" title={t('failed.title')}>
      {error && <Failure code={error.code} />}
    </Alert>
  ) : (
    <Alert color="gray" title={t('processing.title')} role="status">
      {t(`stage.${stage}`)}
    </Alert>
  )
}

interface ContentProps {
  view: DocumentViewBody
  target: PassageTarget | undefined
  /** Reports the page in view. */
  onPage(page: number): void
}

function Content({ view, target, onPage }: ContentProps) {
  const { t } = useTranslation('viewer')
  const { document, text } = view
  const { id, version, mimeType, status, stage, error } = document
  if (mimeType === 'application/pdf') {
    return (
      <Suspense fallback={<Skeleton flex={1} />}>
        <PdfDocument
          url={`/api/documents/${encodeURIComponent(id)}/content?version=${version}`}
          target={target}
          warnings={document.warnings}
          onPage={onPage}
        />
      </Suspense>
    )
  }
  if (text.total > 0) {
    const format = mimeType === 'text/csv' || mimeType === 'text/tab-separated-values' ? 'table' : 'text'
    return (
      <Suspense fallback={<Skeleton flex={1} />}>
        <TextDocument documentId={id} version={version} format={format} first={text} range={target?.range} />
      </Suspense>
    )
  }
  if (status === 'failed')
    return <EmptyState drawing="broken" title={t('failed.title')} text={error && <Failure code={error.code} />} />
  return <EmptyState title={t('processing.title')} text={t(`stage.${stage}`)} />
}

interface PanelProps {
  view: DocumentViewBody
  /** The page in view. */
  page: number
  selected: ChunkBody | undefined
  onSelect(chunk: ChunkBody): void
  /** Shows a page. */
  onPage(page: number): void
}

function Panel({ view: { document, chunks }, page, selected, onSelect, onPage }: PanelProps) {
  const { t } = useTranslation('viewer')
  const hasPages = document.mimeType === 'application/pdf'
  return (
    <Tabs defaultValue="facts" className={styles['tabs']} keepMounted={false}>
      <Tabs.List>
        <Tabs.Tab value="facts">{t('facts.tab')}</Tabs.Tab>
        {hasPages && <Tabs.Tab value="text">{t('pageText.tab')}</Tabs.Tab>}
        <Tabs.Tab value="chunks">{t('chunks.tab')}</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="facts" className={styles['tab']}>
        <DocumentFacts document={document} onPage={hasPages ? onPage : undefined} />
      </Tabs.Panel>
      {hasPages && (
        <Tabs.Panel value="text" className={styles['tab']}>
          <Suspense>
            <PageText document={document} page={page} />
          </Suspense>
        </Tabs.Panel>
      )}
      <Tabs.Panel value="chunks" className={styles['tab']}>
        {chunks.total === 0 ? (
          <EmptyState title={t('chunks.empty')} text={t('chunks.emptyText')} />
        ) : (
          <ChunkList
            documentId={document.id}
            version={`${document.version} ${document.updatedAt}`}
            first={chunks}
            selected={selected}
            onSelect={onSelect}
          />
        )}
      </Tabs.Panel>
    </Tabs>
  )
}
