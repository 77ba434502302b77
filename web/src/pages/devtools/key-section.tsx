import type { DeveloperToolsView } from '@contract/console-developer-tools.ts'
import type { NewApiKeyBody } from '@contract/operator.ts'
import { Alert, Button, Code, Group, Modal, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { postJson } from '../../api/client.ts'
import { openConfirm } from '../../ui/confirm.tsx'
import { CopyField } from '../../ui/copy-field.tsx'
import { Facts } from '../../ui/facts.tsx'
import { notifyError } from '../../ui/notify.ts'
import { Section } from '../../ui/section.tsx'
import { Time } from '../../ui/time.tsx'
import { developerToolsQuery } from './routes.tsx'

interface KeySectionProps {
  view: DeveloperToolsView
  newKey: NewApiKeyBody | undefined
  onMade: (key: NewApiKeyBody) => void
}

/** The one key of the organisation: made and replaced here, and shown once. */
export function KeySection({ view: { organisation, apiKey }, newKey, onMade }: KeySectionProps) {
  const { t } = useTranslation('devtools')
  const queryClient = useQueryClient()
  const [isShown, setShown] = useState(false)
  const { mutate, isPending } = useMutation({
    mutationFn: () => postJson<NewApiKeyBody>(`/api/organisations/${organisation.id}/api-key`),
    onSuccess: (made) => {
      onMade(made)
      setShown(true)
      return queryClient.invalidateQueries(developerToolsQuery(organisation.id))
    },
    onError: notifyError,
  })
  const replace = () =>
    openConfirm({
      title: t('key.replaceTitle', { key: `${apiKey?.prefix}…${apiKey?.lastFour}` }),
      text: t('key.replaceText'),
      confirm: t('key.replace'),
      onConfirm: () => mutate(),
    })
  return (
    <Section
      title={t('key.title')}
      description={t('key.description')}
      actions={
        apiKey ? (
          <Button variant="default" loading={isPending} onClick={replace}>
            {t('key.replace')}
          </Button>
        ) : (
          <Button loading={isPending} onClick={() => mutate()}>
            {t('key.create')}
          </Button>
        )
      }
    >
      {apiKey ? <KeyFacts apiKey={apiKey} /> : <Text size="sm">{t('key.none')}</Text>}
      <NewKeyDialog newKey={newKey} isOpen={isShown} onClose={() => setShown(false)} />
    </Section>
  )
}

function KeyFacts({ apiKey }: { apiKey: NonNullable<DeveloperToolsView['apiKey']> }) {
  const { t } = useTranslation('devtools')
  const { prefix, lastFour, createdAt, createdBy, lastUsedAt } = apiKey
  const names: Record<string, string> = { operator: t('key.byOperatorToken'), service: t('key.byService') }
  return (
    <Facts
      items={[
        { label: t('key.key'), value: <Code>{`${prefix}…${lastFour}`}</Code> },
        { label: t('key.created'), value: <Time value={createdAt} /> },
        { label: t('key.createdBy'), value: createdBy === null ? t('key.unknown') : (names[createdBy] ?? createdBy) },
        { label: t('key.lastUsed'), value: lastUsedAt === null ? t('key.never') : <Time value={lastUsedAt} /> },
      ]}
    />
  )
}

/** Closed by its button only: outside of this dialog the key can never be seen again. */
function NewKeyDialog(props: { newKey: NewApiKeyBody | undefined; isOpen: boolean; onClose: () => void }) {
  const { newKey, isOpen, onClose } = props
  const { t } = useTranslation('devtools')
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={t('key.newTitle')}
      size="lg"
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      <Stack>
        <Alert color="orange" icon={<IconAlertTriangle size={18} aria-hidden />}>
          {t('key.shownOnce')}
        </Alert>
        <CopyField label={t('key.newLabel')} value={newKey?.key ?? ''} />
        <Group justify="flex-end">
          <Button onClick={onClose}>{t('key.stored')}</Button>
        </Group>
      </Stack>
    </Modal>
  )
}
