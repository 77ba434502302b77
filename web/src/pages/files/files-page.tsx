import { Group, Stack } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Suspense, useCallback, useMemo, useState, useSyncExternalStore } from 'react'
import { useTranslation } from 'react-i18next'
import type { OnDuplicate } from '@contract/documents.ts'
import type { DocumentProgressBody } from '@contract/document-progress.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { openConfirm } from '../../ui/confirm.tsx'
import { Dimmed } from '../../ui/dimmed.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { lazyPart, OnceOpened } from '../../ui/lazy-part.tsx'
import { notifySuccess, notifyWarning } from '../../ui/notify.ts'
import { Page } from '../../ui/page.tsx'
import type { ChosenFile } from './collect-files.ts'
import { type ListSearch, readListSearch, windowQuery } from './document-queries.ts'
import { type FileActions, useFileActions } from './file-actions.ts'
import { Failures } from './failures.tsx'
import { FileFilters } from './file-filters.tsx'
import type { RowAction } from './file-row.tsx'
import { FileTable } from './file-table.tsx'
import { PageDrop, UploadControls } from './upload-controls.tsx'
import { isActive, type UploadLimits, type UploadQueue, uploadQueueOf } from './upload-queue.ts'
import { useDocumentEvents } from './use-document-events.ts'
import { maximumSelected, useSelection } from './use-selection.ts'

const RenameDialog = lazyPart(() => import('./rename-dialog.tsx'), 'RenameDialog')
const RunningOperations = lazyPart(() => import('./running-operations.tsx'), 'RunningOperations')
const UploadPanel = lazyPart(() => import('./upload-panel.tsx'), 'UploadPanel')
const SelectionBar = lazyPart(() => import('./selection-bar.tsx'), 'SelectionBar')
const MetadataDialog = lazyPart(() => import('./metadata-dialog.tsx'), 'MetadataDialog')

const route = getRouteApi('/shell/organisations/$organisationId/spaces/$spaceId/files')

/** The uploaded files of a Space: uploads, their processing, and the list of all files. */
export function FilesPage() {
  const { t } = useTranslation('files')
  const format = useFormat()
  const { organisationId, spaceId } = route.useParams()
  const search = readListSearch(route.useSearch())
  const navigate = route.useNavigate()
  const { data: page } = useSuspenseQuery(windowQuery(spaceId, search, 0))
  useDocumentEvents(spaceId)
  const actions = useFileActions(spaceId)
  const selection = useSelection(search, page.total)
  const { dialog, act } = useRowActions(actions)
  const change = (changed: Partial<ListSearch>) =>
    void navigate({ search: readListSearch({ ...search, ...changed }) as never, replace: true, resetScroll: false })
  const { uploads: limits, counts } = page
  const limitsText = t('limits', {
    formats: limits.supportedExtensions.join(', '),
    size: format.byteLimit(limits.maximumBytes),
  })
  const uploading = useUploads(spaceId, limits)
  const all = counts.processing + counts.ready + counts.failed
  const isEmpty = all === 0 && page.total === 0 && !uploading.isActive && !isFiltered(search)
  const refuseMany = () => notifyWarning(t('selection.tooMany', { n: format.number(maximumSelected) }))
  return (
    <Page
      title={t('title')}
      description={isEmpty ? t('description') : `${t('description')} ${limitsText}`}
      actions={<UploadControls spaceId={spaceId} extensions={limits.supportedExtensions} {...uploading.controls} />}
    >
      <PageDrop hint={limitsText} onFiles={uploading.controls.onFiles} />
      <Uploads queue={uploading.queue} limits={limits} />
      <OnceOpened opened={page.operations.length > 0}>
        <RunningOperations
          spaceId={spaceId}
          operations={page.operations}
          onStop={(operationId) => void actions.stop(operationId)}
        />
      </OnceOpened>
      <Failures
        failures={page.failures}
        onShow={(failure) => change({ failure, status: 'failed' })}
        onRetry={(failure) => void actions.start('retry', { filter: { failure } })}
      />
      {isEmpty ? (
        <NoFiles limitsText={limitsText} recognisesText={limits.recognisesText} />
      ) : (
        <Stack gap="sm">
          <Group justify="space-between" align="center" gap="xs">
            <FileFilters search={search} page={page} onChange={change} />
            <Dimmed role="status">{t('table.total', { count: page.total, n: format.number(page.total) })}</Dimmed>
          </Group>
          <OnceOpened opened={selection.count > 0}>
            <SelectionBar selection={selection} actions={actions} />
          </OnceOpened>
          {page.total === 0 && !isFiltered(search) ? (
            <EmptyState title={t('arriving.title')} text={t('arriving.text')} />
          ) : page.total === 0 ? (
            <EmptyState
              title={t('noMatch.title')}
              text={t('noMatch.text')}
              onClear={() => void navigate({ search: {} as never, replace: true })}
            />
          ) : (
            <FileTable
              key={JSON.stringify(search)}
              {...{ spaceId, search, selection }}
              address={`/organisations/${organisationId}/spaces/${spaceId}/files`}
              total={page.total}
              onSort={(sort) => change({ sort })}
              onAct={act}
              onTooMany={refuseMany}
            />
          )}
        </Stack>
      )}
      {dialog}
    </Page>
  )
}

/** Sorting alone hides no file. */
const isFiltered = ({ sort: _sort, ...filters }: ListSearch) => Object.keys(filters).length > 0

function NoFiles({ limitsText, recognisesText }: { limitsText: string; recognisesText: boolean }) {
  const { t } = useTranslation('files')
  const text = t('empty.text', { limits: limitsText })
  return <EmptyState title={t('empty.title')} text={recognisesText ? text : `${text} ${t('empty.scans')}`} />
}

function Uploads(props: { queue: UploadQueue; limits: UploadLimits }) {
  const { subscribe, uploads } = props.queue
  const hasUploads = useSyncExternalStore(subscribe, () => uploads().length > 0)
  return (
    <OnceOpened opened={hasUploads}>
      <UploadPanel {...props} />
    </OnceOpened>
  )
}

/** The queue of this Space, and the values of the controls that fill it. */
function useUploads(
  spaceId: string,
  { maximumBytes, supportedExtensions }: { maximumBytes: number; supportedExtensions: string[] },
) {
  const { t } = useTranslation('files')
  const queue = useMemo(() => uploadQueueOf(spaceId), [spaceId])
  const [onDuplicate, onDuplicateChange] = useState<OnDuplicate>('keep')
  const extensions = supportedExtensions.join()
  const onFiles = useCallback(
    (files: ChosenFile[]) => {
      if (files.length === 0) return notifyWarning(t('uploads.nothing'))
      queue.add(files, { maximumBytes, supportedExtensions: extensions.split(',') }, onDuplicate)
    },
    [queue, maximumBytes, extensions, onDuplicate, t],
  )
  const isUploading = useSyncExternalStore(queue.subscribe, () => queue.uploads().some(isActive))
  return { queue, isActive: isUploading, controls: { onFiles, onDuplicate, onDuplicateChange } }
}

/** What the menu of a row does; dialogs are rendered by the page. */
function useRowActions(actions: FileActions) {
  const { t } = useTranslation('files')
  const [open, setOpen] = useState<{ action: RowAction; document: DocumentProgressBody }>()
  const close = () => setOpen(undefined)
  const act = useStable((action: RowAction, document: DocumentProgressBody) => {
    const { id, name } = document
    if (action === 'retry') return void actions.retry(id)
    if (action !== 'delete') return setOpen({ action, document })
    openConfirm({
      title: t('delete.title', { name }),
      text: t('delete.text'),
      confirm: t('action.delete'),
      onConfirm: () => void actions.remove(id, () => notifySuccess(t('delete.done', { name }))),
    })
  })
  const props = open && { document: open.document, actions, onClose: close }
  const dialog = props && (
    <Suspense>{open.action === 'rename' ? <RenameDialog {...props} /> : <MetadataDialog {...props} />}</Suspense>
  )
  return { dialog, act }
}

/** A function that stays the same while what it does changes, for memoised rows. */
function useStable<Arguments extends unknown[]>(handler: (...given: Arguments) => void) {
  const [box] = useState(() => ({ handler }))
  box.handler = handler
  return useCallback((...given: Arguments) => box.handler(...given), [box])
}
