import { Button, Group } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconPlus } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { GoldenMessages } from '@contract/golden-questions.ts'
import { lazyPart, OnceOpened } from '../../ui/lazy-part.tsx'
import { notifyError, notifySuccess } from '../../ui/notify.ts'
import { useSaveQuestion } from './use-questions.ts'

const QuestionDialog = lazyPart(() => import('./question-dialog.tsx'), 'QuestionDialog')

interface AcceptCandidateProps {
  spaceId: string
  question: string
  /** The messages before it. */
  earlier?: GoldenMessages
}

/** Adds the question as it is: from then on it must be answered. Documents and facts can be added at once or later. */
export function AcceptCandidate({ spaceId, question, earlier = [] }: AcceptCandidateProps) {
  const { t } = useTranslation('golden-questions')
  const save = useSaveQuestion(spaceId)
  const [isEditing, editing] = useDisclosure(false)
  const accept = async () => {
    const messages: GoldenMessages = [...earlier, { role: 'user', content: question }]
    const given = { messages, expectedDocuments: [], expectedFacts: [], mustAbstain: false }
    try {
      await save.mutateAsync({ base: undefined, question: given })
      notifySuccess(t('candidates.added'))
    } catch (error) {
      notifyError(error)
    }
  }
  return (
    <Group gap="xs" justify="flex-end" wrap="nowrap">
      <Button
        size="compact-sm"
        variant="default"
        onClick={editing.open}
        aria-label={t('candidates.completeQuestion', { question })}
      >
        {t('candidates.complete')}
      </Button>
      <Button
        size="compact-sm"
        leftSection={<IconPlus size={14} aria-hidden />}
        loading={save.isPending}
        onClick={() => void accept()}
        aria-label={t('candidates.addQuestion', { question })}
      >
        {t('candidates.add')}
      </Button>
      <OnceOpened opened={isEditing}>
        <QuestionDialog
          spaceId={spaceId}
          opened={isEditing}
          question={undefined}
          text={question}
          earlier={earlier}
          onClose={editing.close}
        />
      </OnceOpened>
    </Group>
  )
}
