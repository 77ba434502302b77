import { Alert, Badge, Button, Group, NativeSelect, Paper, Stack, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { GoldenProposalsBody, GoldenProposalsOfferBody } from '@contract/golden-proposals.ts'
import { postJson } from '../../api/client.ts'
import { jsonQuery } from '../../api/queries.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Dimmed } from '../../ui/dimmed.tsx'
import { lazyPart, OnceOpened } from '../../ui/lazy-part.tsx'
import { notifyError, notifySuccess } from '../../ui/notify.ts'
import styles from './golden.module.css'
import { goldenKey, goldenPath } from './queries.ts'
import { useSaveQuestion } from './use-questions.ts'

const QuestionDialog = lazyPart(() => import('./question-dialog.tsx'), 'QuestionDialog')

type Proposal = GoldenProposalsBody['items'][number]

interface DialogProps {
  spaceId: string
  opened: boolean
  onClose: () => void
}

/** Questions that Portico makes from documents: each is added, changed or left out before it counts. */
export function ProposalsDialog({ spaceId, opened, onClose }: DialogProps) {
  const { t } = useTranslation('golden-questions')
  const [proposals, setProposals] = useState<readonly Proposal[]>([])
  const [edited, setEdited] = useState<Proposal>()
  const remove = (done: Proposal) => setProposals((current) => current.filter((one) => one !== done))
  return (
    <>
      <Dialog opened={opened && !edited} onClose={onClose} title={t('proposals.title')} size="xl">
        <Stack>
          <Text size="sm">{t('proposals.text')}</Text>
          <MakeProposals spaceId={spaceId} onMade={(made) => setProposals((current) => [...made, ...current])} />
          {proposals.map((proposal) => (
            <ProposalCard
              key={proposal.question}
              spaceId={spaceId}
              proposal={proposal}
              onEdit={() => setEdited(proposal)}
              onDone={() => remove(proposal)}
            />
          ))}
        </Stack>
      </Dialog>
      <OnceOpened opened={edited !== undefined}>
        <QuestionDialog
          spaceId={spaceId}
          opened={edited !== undefined}
          question={undefined}
          text={edited?.question}
          documents={edited?.expectedDocuments}
          facts={edited?.expectedFacts}
          onSaved={() => edited && remove(edited)}
          onClose={() => setEdited(undefined)}
        />
      </OnceOpened>
    </>
  )
}

/** How many, what they cost, and the button that makes them. */
function MakeProposals({ spaceId, onMade }: { spaceId: string; onMade: (made: Proposal[]) => void }) {
  const { t } = useTranslation('golden-questions')
  const format = useFormat()
  const [count, setCount] = useState(5)
  const path = `${goldenPath(spaceId)}/proposals`
  const offer = useQuery(jsonQuery<GoldenProposalsOfferBody>([...goldenKey(spaceId), 'proposals'], path))
  const make = useMutation({
    mutationFn: () => postJson<GoldenProposalsBody>(path, { count }),
    onSuccess: ({ items }) => onMade(items),
    onError: notifyError,
  })
  if (offer.isError)
    return (
      <Alert color="red" role="alert">
        {offer.error.message}
      </Alert>
    )
  if (!offer.data) return null
  const { model, callsModel, maximum, estimatedCostUsd } = offer.data
  const counts = [1, 3, 5, 10].filter((number) => number <= maximum)
  return (
    <Stack gap="xs">
      <Group align="end">
        <NativeSelect
          label={t('proposals.count')}
          data={counts.map(String)}
          value={String(count)}
          onChange={({ currentTarget }) => setCount(Number(currentTarget.value))}
        />
        <Button loading={make.isPending} disabled={!callsModel} onClick={() => make.mutate()}>
          {t('proposals.make')}
        </Button>
      </Group>
      <Dimmed role="status">
        {make.data
          ? t('proposals.made', { count: make.data.items.length, cost: format.money(make.data.costUsd) })
          : callsModel
            ? t('proposals.cost', { model, cost: format.money(Number(estimatedCostUsd) * count) })
            : t('proposals.withoutModel')}
      </Dimmed>
    </Stack>
  )
}

interface CardProps {
  spaceId: string
  proposal: Proposal
  onEdit: () => void
  onDone: () => void
}

function ProposalCard({ spaceId, proposal, onEdit, onDone }: CardProps) {
  const { t } = useTranslation('golden-questions')
  const save = useSaveQuestion(spaceId)
  const { question, expectedDocuments, expectedFacts, passage } = proposal
  const add = async () => {
    const given = { messages: [{ role: 'user' as const, content: question }], mustAbstain: false }
    try {
      await save.mutateAsync({
        base: undefined,
        question: { ...given, expectedFacts, expectedDocuments: expectedDocuments.map(({ id }) => ({ id })) },
      })
      notifySuccess(t('candidates.added'))
      onDone()
    } catch (error) {
      notifyError(error)
    }
  }
  return (
    <Paper withBorder p="md" component="article" aria-label={question}>
      <Stack gap="xs">
        <Text fw={600} className={styles['text']!}>
          {question}
        </Text>
        <Group gap="xs">
          {expectedFacts.map((fact) => (
            <Badge key={fact} variant="light" tt="none">
              {fact}
            </Badge>
          ))}
        </Group>
        <Dimmed lineClamp={4} className={styles['text']!}>
          {expectedDocuments.map(({ name }) => name).join(', ')}: {passage}
        </Dimmed>
        <Group gap="xs" justify="flex-end">
          <Button size="compact-sm" variant="default" onClick={onDone}>
            {t('proposals.discard')}
          </Button>
          <Button size="compact-sm" variant="default" onClick={onEdit}>
            {t('proposals.edit')}
          </Button>
          <Button size="compact-sm" loading={save.isPending} onClick={() => void add()}>
            {t('candidates.add')}
          </Button>
        </Group>
      </Stack>
    </Paper>
  )
}
