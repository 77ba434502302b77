import { Alert, Button, FileInput, Group, List, Modal, Progress, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { importQuestions, type ImportReport, maximumImported, readQuestions } from './import-questions.ts'
import { goldenKey } from './queries.ts'
import type { GivenQuestion } from './use-questions.ts'

interface DialogProps {
  spaceId: string
  opened: boolean
  onClose: () => void
}

/** Adds the questions of a file, and reports which were refused. */
export function ImportDialog({ spaceId, opened, onClose }: DialogProps) {
  const { t } = useTranslation('golden-questions')
  return (
    <Modal opened={opened} onClose={onClose} title={t('import.title')} size="lg">
      {opened && <ImportForm spaceId={spaceId} onClose={onClose} />}
    </Modal>
  )
}

/** Refused questions that are shown. */
const shownRefusals = 10

function ImportForm({ spaceId, onClose }: Omit<DialogProps, 'opened'>) {
  const { t } = useTranslation('golden-questions')
  const format = useFormat()
  const queryClient = useQueryClient()
  const [questions, setQuestions] = useState<Partial<GivenQuestion>[]>()
  const [problem, setProblem] = useState<string>()
  const [done, setDone] = useState(0)
  const stopping = useRef<AbortController>(undefined)
  const run = useMutation({
    mutationFn: (given: Partial<GivenQuestion>[]) => {
      stopping.current = new AbortController()
      return importQuestions(spaceId, given, { signal: stopping.current.signal, onProgress: setDone })
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: goldenKey(spaceId) }),
  })
  const choose = async (file: File | null) => {
    run.reset()
    const read = file && readQuestions(await file.text())
    const isTooLong = read ? read.length > maximumImported : false
    setProblem(
      file && !read
        ? t('import.unreadable')
        : isTooLong
          ? t('import.tooMany', { maximum: maximumImported })
          : undefined,
    )
    setQuestions(isTooLong ? undefined : (read ?? undefined))
  }
  return (
    <Stack>
      <Text size="sm">{t('import.text')}</Text>
      <FileInput
        label={t('import.file')}
        placeholder={t('import.choose')}
        accept="application/json,.json"
        onChange={(file) => void choose(file)}
        error={problem}
        disabled={run.isPending}
        clearable
        clearButtonProps={{ 'aria-label': t('import.clear') }}
      />
      {run.isPending && questions && (
        <Progress value={(done / questions.length) * 100} aria-label={t('import.progress')} />
      )}
      {run.error && (
        <Alert color="red" role="alert">
          {run.error.message}
        </Alert>
      )}
      {run.data && <Report report={run.data} />}
      <Group justify="flex-end">
        <Button variant="default" onClick={run.isPending ? () => stopping.current?.abort() : onClose}>
          {run.isPending ? t('import.stop') : run.data ? t('import.close') : t('cancel', { ns: 'common' })}
        </Button>
        {!run.data && (
          <Button loading={run.isPending} disabled={!questions} onClick={() => questions && run.mutate(questions)}>
            {questions
              ? t('import.submit', { count: questions.length, n: format.number(questions.length) })
              : t('import.action')}
          </Button>
        )}
      </Group>
    </Stack>
  )
}

function Report({ report: { added, existing, refused } }: { report: ImportReport }) {
  const { t } = useTranslation('golden-questions')
  const format = useFormat()
  return (
    <Stack gap="xs" role="status">
      <Text size="sm" fw={600}>
        {t('import.added', { count: added, n: format.number(added) })}
      </Text>
      {existing > 0 && <Text size="sm">{t('import.existing', { count: existing, n: format.number(existing) })}</Text>}
      {refused.length > 0 && (
        <>
          <Text size="sm">{t('import.refused', { count: refused.length, n: format.number(refused.length) })}</Text>
          <List size="sm">
            {refused.slice(0, shownRefusals).map(({ number, reason }) => (
              <List.Item key={number}>{t('import.refusal', { number, reason })}</List.Item>
            ))}
          </List>
        </>
      )}
    </Stack>
  )
}
