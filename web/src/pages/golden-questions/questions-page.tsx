import { Button, Group, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconDownload, IconFileText, IconPlus, IconUpload } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { GoldenQuestionBody } from '@contract/golden-questions.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { lazyPart, OnceOpened } from '../../ui/lazy-part.tsx'
import { SearchField } from '../../ui/list-controls.tsx'
import { GoldenFrame } from './golden-frame.tsx'
import { goldenPath, type QuestionSearch, questionsQuery } from './queries.ts'
import { QuestionTable } from './question-table.tsx'
import { RegressionNotice } from './regression-notice.tsx'
import { questionsRoute } from './routes.tsx'

const QuestionDialog = lazyPart(() => import('./question-dialog.tsx'), 'QuestionDialog')
const ProposalsDialog = lazyPart(() => import('./proposals-dialog.tsx'), 'ProposalsDialog')
const ImportDialog = lazyPart(() => import('./import-dialog.tsx'), 'ImportDialog')

/** The golden questions of a Space: add, change, delete, import and export. */
export function QuestionsPage() {
  const { t } = useTranslation('golden-questions')
  const { spaceId } = questionsRoute.useParams()
  const search = questionsRoute.useSearch()
  const navigate = questionsRoute.useNavigate()
  const { data: page } = useSuspenseQuery(questionsQuery(spaceId, search))
  const [edited, setEdited] = useState<GoldenQuestionBody>()
  const [isEditing, editing] = useDisclosure(false)
  const [isImporting, importing] = useDisclosure(false)
  const [isProposing, proposing] = useDisclosure(false)
  const show = (next: QuestionSearch) => void navigate({ search: next, replace: true })
  const edit = (question: GoldenQuestionBody | undefined) => {
    setEdited(question)
    editing.open()
  }
  const actions = <Actions onAdd={() => edit(undefined)} onImport={importing.open} onPropose={proposing.open} />
  const isEmpty = page.total === 0 && search.search === undefined
  return (
    <GoldenFrame
      actions={
        !isEmpty && (
          <>
            <ExportButton spaceId={spaceId} />
            {actions}
          </>
        )
      }
    >
      {isEmpty ? (
        <EmptyState title={t('empty')} text={t('emptyText')} action={<Group justify="center">{actions}</Group>} />
      ) : (
        <Stack gap="md">
          <RegressionNotice regression={page.regression} />
          <SearchField
            label={t('search')}
            value={search.search}
            onChange={(text) => show(text.trim() === '' ? {} : { search: text.trim() })}
          />
          <QuestionTable
            page={page}
            onEdit={edit}
            onClear={() => show({})}
            onPage={(offset) =>
              show({ ...(search.search && { search: search.search }), ...(offset > 0 && { offset }) })
            }
          />
        </Stack>
      )}
      <OnceOpened opened={isEditing}>
        <QuestionDialog spaceId={spaceId} opened={isEditing} question={edited} onClose={editing.close} />
      </OnceOpened>
      <OnceOpened opened={isProposing}>
        <ProposalsDialog spaceId={spaceId} opened={isProposing} onClose={proposing.close} />
      </OnceOpened>
      <OnceOpened opened={isImporting}>
        <ImportDialog spaceId={spaceId} opened={isImporting} onClose={importing.close} />
      </OnceOpened>
    </GoldenFrame>
  )
}

function Actions({ onAdd, onImport, onPropose }: Record<'onAdd' | 'onImport' | 'onPropose', () => void>) {
  const { t } = useTranslation('golden-questions')
  return (
    <>
      <Button variant="default" leftSection={<IconFileText size={16} aria-hidden />} onClick={onPropose}>
        {t('proposals.action')}
      </Button>
      <Button variant="default" leftSection={<IconUpload size={16} aria-hidden />} onClick={onImport}>
        {t('import.action')}
      </Button>
      <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={onAdd}>
        {t('add')}
      </Button>
    </>
  )
}

function ExportButton({ spaceId }: { spaceId: string }) {
  const { t } = useTranslation('golden-questions')
  return (
    <Button
      component="a"
      href={`${goldenPath(spaceId)}/export`}
      download
      variant="default"
      leftSection={<IconDownload size={16} aria-hidden />}
    >
      {t('export')}
    </Button>
  )
}
