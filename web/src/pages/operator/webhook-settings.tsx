import { Alert, Button, Group, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { deleteJson, putJson } from '../../api/client.ts'
import { openConfirm } from '../../ui/confirm.tsx'
import { CopyField } from '../../ui/copy-field.tsx'
import { notifyError, notifySuccess } from '../../ui/notify.ts'
import { Section } from '../../ui/section.tsx'
import { useFieldErrors } from '../../ui/field-errors.ts'

/** Where budget thresholds are sent. The signing secret is shown once, after it was set. */
export function WebhookSettings({ organisationId, url }: { organisationId: string; url: string | null }) {
  const { t } = useTranslation('operator')
  const queryClient = useQueryClient()
  const { errors, attempt } = useFieldErrors(['url'])
  const [address, setAddress] = useState(url ?? '')
  const [secret, setSecret] = useState<string>()
  const path = `/api/organisations/${organisationId}/webhook`
  const reload = () => queryClient.invalidateQueries({ queryKey: ['operator'] })
  const save = useMutation({
    mutationFn: () => putJson<{ secret: string }>(path, { url: address }),
    onSuccess(made) {
      setSecret(made.secret)
      return reload()
    },
  })
  const remove = useMutation({
    mutationFn: () => deleteJson(path),
    async onSuccess() {
      setAddress('')
      setSecret(undefined)
      await reload()
      notifySuccess(t('webhook.removed'))
    },
    onError: notifyError,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void attempt(() => save.mutateAsync())
  }
  const confirmRemove = () =>
    openConfirm({
      title: t('webhook.removeTitle'),
      text: t('webhook.removeText', { url }),
      confirm: t('webhook.remove'),
      onConfirm: () => remove.mutate(),
    })
  return (
    <Section title={t('webhook.title')} description={t('webhook.text')}>
      <Stack maw={720} gap="sm">
        <form onSubmit={submit} noValidate>
          <Group align="flex-end" gap="xs">
            <TextInput
              type="url"
              label={t('webhook.url')}
              placeholder="https://"
              value={address}
              onChange={(event) => setAddress(event.currentTarget.value)}
              error={errors['url']}
              style={{ flex: '1 1 260px' }}
            />
            <Button type="submit" variant="default" loading={save.isPending} disabled={address === ''}>
              {url === null ? t('webhook.set') : t('webhook.replace')}
            </Button>
            {url !== null && (
              <Button variant="subtle" color="red" onClick={confirmRemove} loading={remove.isPending}>
                {t('webhook.remove')}
              </Button>
            )}
          </Group>
        </form>
        {secret !== undefined && (
          <Alert title={t('webhook.secretTitle')} color="portico" variant="light">
            <CopyField label={t('webhook.secret')} value={secret} />
          </Alert>
        )}
      </Stack>
    </Section>
  )
}
