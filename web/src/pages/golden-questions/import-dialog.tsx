import { Alert, Anchor, Button, FileInput, Group, Loader, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { notifySuccess } from '../../ui/notify.ts'
import { checkFile, importFile, type ImportBody, type ImportReport, readFile } from './import-file.ts'
import { ImportResult } from './import-result.tsx'
import { goldenKey } from './queries.ts'

interface DialogProps {
  spaceId: string
  opened: boolean
  onClose: () => void
}

/** Checks a file of questions, shows which cannot be imported, and adds the others. */
export function ImportDialog({ spaceId, opened, onClose }: DialogProps) {
  const { t } = useTranslation('golden-questions')
  return (
    <Dialog opened={opened} onClose={onClose} title={t('import.title')} size="xl">
      {opened && <ImportForm spaceId={spaceId} onClose={onClose} />}
    </Dialog>
  )
}

function ImportForm({ spaceId, onClose }: Omit<DialogProps, 'opened'>) {
  const { t } = useTranslation('golden-questions')
  const { file, check, add, choose } = useImport(spaceId, onClose)
  return (
    <Stack>
      <Text size="sm">{t('import.text')}</Text>
      <FileInput
        // The browser reports the same file again only to a new field; people choose it again when they have corrected it.
        key={check.submittedAt}
        label={t('import.file')}
        description={<Columns />}
        placeholder={t('import.choose')}
        accept="text/csv,.csv,application/json,.json"
        value={file}
        onChange={choose}
        disabled={check.isPending || add.isPending}
        clearable
        clearButtonProps={{ 'aria-label': t('import.clear') }}
      />
      {check.isPending && (
        <Group gap="sm" role="status">
          <Loader size="sm" />
          <Text size="sm">{t('import.checking')}</Text>
        </Group>
      )}
      {(check.error ?? add.error) && (
        <Alert color="red" role="alert">
          {(check.error ?? add.error)?.message}
        </Alert>
      )}
      {check.data === null && (
        <Alert color="red" role="alert">
          {t('import.unreadable')}
        </Alert>
      )}
      {add.data ? (
        <ImportResult report={add.data} isDone />
      ) : (
        check.data && <ImportResult report={check.data.report} isDone={false} />
      )}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          {add.data ? t('import.close') : t('cancel', { ns: 'common' })}
        </Button>
        {!add.data && (
          <SubmitButton
            report={check.data?.report}
            isPending={add.isPending}
            onClick={() => check.data && add.mutate(check.data.body)}
          />
        )}
      </Group>
    </Stack>
  )
}

/** The chosen file, its check and its import. A complete import closes the dialog. */
function useImport(spaceId: string, onClose: () => void) {
  const { t } = useTranslation('golden-questions')
  const format = useFormat()
  const queryClient = useQueryClient()
  const [file, setFile] = useState<File | null>(null)
  const check = useMutation({
    mutationFn: async (chosen: File) => {
      const body = await readFile(chosen)
      return body ? { body, report: await checkFile(spaceId, body) } : null
    },
  })
  const add = useMutation({
    mutationFn: (body: ImportBody) => importFile(spaceId, body),
    onSuccess: ({ added, refused }) => {
      if (refused.length > 0) return
      notifySuccess(t('import.added', { count: added, n: format.number(added) }))
      onClose()
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: goldenKey(spaceId) }),
  })
  const choose = (chosen: File | null) => {
    setFile(chosen)
    add.reset()
    if (chosen) check.mutate(chosen)
    else check.reset()
  }
  return { file, check, add, choose }
}

/** What a CSV file needs, with an example. */
function Columns() {
  const { t } = useTranslation('golden-questions')
  return (
    <>
      {t('import.columns')}{' '}
      <Anchor
        size="xs"
        underline="always"
        href={`data:text/csv;charset=utf-8,${encodeURIComponent(`\uFEFF${t('import.exampleFile')}`)}`}
        download="golden-questions.csv"
      >
        {t('import.example')}
      </Anchor>
    </>
  )
}

interface SubmitProps {
  report: ImportReport | undefined
  isPending: boolean
  onClick: () => void
}

function SubmitButton({ report, isPending, onClick }: SubmitProps) {
  const { t } = useTranslation('golden-questions')
  const format = useFormat()
  const count = report?.added ?? 0
  const label = report && report.refused.length > 0 ? 'import.others' : 'import.submit'
  return (
    <Button loading={isPending} disabled={count === 0} onClick={onClick}>
      {count === 0 ? t('import.action') : t(label, { count, n: format.number(count) })}
    </Button>
  )
}
