import { Alert, Stack, Switch, Textarea } from '@mantine/core'
import type { FormEvent } from 'react'
import { useTranslation } from 'react-i18next'
import type { GoldenMessages, GoldenQuestionBody } from '@contract/golden-questions.ts'
import { getJson } from '../../api/client.ts'
import { useSharedDraft } from '../../ui/conflict/use-shared-draft.tsx'
import { DialogButtons } from '../../ui/dialog-buttons.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { useFieldErrors } from '../../ui/field-errors.ts'
import { notifySuccess } from '../../ui/notify.ts'
import { type ChosenDocument, DocumentChoice } from './document-choice.tsx'
import { EarlierMessages } from './earlier-messages.tsx'
import { goldenPath } from './queries.ts'
import { draftOf, givenOf, type QuestionDraft } from './question-draft.ts'
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
    <Dialog opened={opened} onClose={onClose} title={question ? t('form.edit') : t('form.new')} size="lg">
      {opened && <QuestionForm {...form} question={question} onClose={onClose} />}
    </Dialog>
  )
}

type FormProps = Omit<DialogProps, 'opened'>

const fields = ['messages', 'expectedDocuments', 'expectedFacts', 'mustAbstain'] as const

function QuestionForm(props: FormProps) {
  const { spaceId, onSaved, onClose } = props
  const { t } = useTranslation('golden-questions')
  const save = useSaveQuestion(spaceId)
  const form = useQuestionForm(props, save.mutateAsync)
  const { draft, set: change } = form
  const { errors, attempt } = useFieldErrors(fields, { other: 'form' })
  const submit = async (event?: FormEvent) => {
    event?.preventDefault()
    let isSaved = false
    if (!(await attempt(async () => (isSaved = await form.save()))) || !isSaved) return
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
        <DialogButtons
          onCancel={onClose}
          submit={t('form.save')}
          loading={save.isPending}
          disabled={draft.question.trim() === ''}
        />
      </Stack>
      {form.dialog(() => void submit())}
    </form>
  )
}

type Stored = Partial<GoldenQuestionBody> & { version: string }

const newQuestion: Stored = { version: '' }

/** The form, with what someone else has changed meanwhile. */
function useQuestionForm(props: FormProps, save: ReturnType<typeof useSaveQuestion>['mutateAsync']) {
  const { spaceId, question, text = '', earlier = [], documents = [], facts = [] } = props
  const { t } = useTranslation('golden-questions')
  const begun = { earlier, question: text, documents, facts: facts.join('\n'), mustAbstain: false }
  return useSharedDraft<Stored, QuestionDraft>({
    view: question ?? newQuestion,
    isNew: question === undefined,
    draftOf: (stored) => (isStored(stored) ? draftOf(stored) : begun),
    load: () => (question ? getJson(`${goldenPath(spaceId)}/${question.id}`) : Promise.resolve(newQuestion)),
    send: (wanted, base) => save({ base: isStored(base) ? base : undefined, question: givenOf(wanted) }),
    labelOf: (field) => t(labelKeys[field]),
    textOf: (field, value) =>
      field === 'earlier'
        ? (value as QuestionDraft['earlier']).map(({ role, content }) => `${t(`form.${role}`)}: ${content}`).join('\n')
        : field === 'documents'
          ? (value as QuestionDraft['documents']).map(({ name }) => name)
          : value,
  })
}

const isStored = (question: Stored): question is GoldenQuestionBody => question.id !== undefined

const labelKeys = {
  earlier: 'form.earlier',
  question: 'field.question',
  documents: 'field.documents',
  facts: 'field.facts',
  mustAbstain: 'form.mustAbstain',
} as const satisfies Record<keyof QuestionDraft, string>
