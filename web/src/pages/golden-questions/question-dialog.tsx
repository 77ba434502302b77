import { Alert, Button, Group, Modal, Stack, Switch, Textarea } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { GoldenMessages, GoldenQuestionBody } from '@contract/golden-questions.ts'
import { useFieldErrors } from '../../ui/field-errors.ts'
import { notifySuccess } from '../../ui/notify.ts'
import { type ChosenDocument, DocumentChoice } from './document-choice.tsx'
import { EarlierMessages } from './earlier-messages.tsx'
import { questionOf } from './queries.ts'
import { useSaveQuestion } from './use-questions.ts'

interface DialogProps {
  spaceId: string
  opened: boolean
  /** Undefined: a new question. */
  question: GoldenQuestionBody | undefined
  /** What a new question begins with. */
  text?: string | undefined
  /** The messages before it. */
  earlier?: GoldenMessages
  documents?: ChosenDocument[] | undefined
  facts?: string[] | undefined
  onSaved?: () => void
  onClose: () => void
}

/** A golden question: the conversation, and what a good answer has. */
export function QuestionDialog({ opened, question, onClose, ...form }: DialogProps) {
  const { t } = useTranslation('golden-questions')
  return (
    <Modal opened={opened} onClose={onClose} title={question ? t('form.edit') : t('form.new')} size="lg">
      {opened && <QuestionForm {...form} question={question} onClose={onClose} />}
    </Modal>
  )
}

type FormProps = Omit<DialogProps, 'opened'>

interface Draft {
  earlier: GoldenMessages
  question: string
  documents: ChosenDocument[]
  facts: string
  mustAbstain: boolean
}

function draftOf({ question, text = '', earlier = [], documents = [], facts = [] }: FormProps): Draft {
  if (!question) return { earlier, question: text, documents, facts: facts.join('\n'), mustAbstain: false }
  return {
    earlier: question.messages.slice(0, -1),
    question: questionOf(question),
    documents: question.expectedDocuments.map(({ id, name }) => ({ id, name })),
    facts: question.expectedFacts.join('\n'),
    mustAbstain: question.mustAbstain,
  }
}

const fields = ['messages', 'expectedDocuments', 'expectedFacts', 'mustAbstain'] as const

function QuestionForm(props: FormProps) {
  const { spaceId, question, onSaved, onClose } = props
  const { t } = useTranslation('golden-questions')
  const [draft, setDraft] = useState(() => draftOf(props))
  const save = useSaveQuestion(spaceId)
  const { errors, attempt } = useFieldErrors(fields, { other: 'form' })
  const change = (fieldsChanged: Partial<Draft>) => setDraft((current) => ({ ...current, ...fieldsChanged }))
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (!(await attempt(() => save.mutateAsync({ id: question?.id, question: givenOf(draft) })))) return
    notifySuccess(t('form.saved'))
    onSaved?.()
    onClose()
  }
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack>
        <EarlierMessages messages={draft.earlier} onChange={(earlier) => change({ earlier })} />
        <Textarea
          label={t('field.question')}
          value={draft.question}
          onChange={({ currentTarget }) => change({ question: currentTarget.value })}
          error={errors['messages']}
          autosize
          minRows={2}
          maxRows={8}
          maxLength={8_000}
          required
          data-autofocus
        />
        <Switch
          label={t('form.mustAbstain')}
          description={t('form.mustAbstainHint')}
          checked={draft.mustAbstain}
          onChange={({ currentTarget }) => change({ mustAbstain: currentTarget.checked })}
          error={errors['mustAbstain']}
        />
        {!draft.mustAbstain && (
          <>
            <DocumentChoice
              spaceId={spaceId}
              chosen={draft.documents}
              onChange={(documents) => change({ documents })}
              error={errors['expectedDocuments']}
            />
            <Textarea
              label={t('form.facts')}
              description={t('form.factsHint')}
              placeholder={t('form.factsExample')}
              value={draft.facts}
              onChange={({ currentTarget }) => change({ facts: currentTarget.value })}
              error={errors['expectedFacts']}
              autosize
              minRows={2}
              maxRows={10}
            />
          </>
        )}
        {errors['form'] && (
          <Alert color="red" role="alert">
            {errors['form']}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t('cancel', { ns: 'common' })}
          </Button>
          <Button type="submit" loading={save.isPending} disabled={draft.question.trim() === ''}>
            {t('form.save')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function givenOf({ earlier, question, documents, facts, mustAbstain }: Draft) {
  const messages: GoldenMessages = [...earlier, { role: 'user', content: question.trim() }]
  const expectedFacts = facts.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]))
  return {
    messages,
    expectedDocuments: mustAbstain ? [] : documents.map(({ id }) => ({ id })),
    expectedFacts: mustAbstain ? [] : expectedFacts,
    mustAbstain,
  }
}
