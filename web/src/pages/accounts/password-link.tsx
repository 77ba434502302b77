import '@mantine/core/styles/Checkbox.css'
import '@mantine/core/styles/CheckboxIndicator.css'
import '@mantine/core/styles/CheckboxCard.css'
import { Button, Checkbox, Group, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { NewPasswordResetBody, PersonBody } from '@contract/people.ts'
import { postJson } from '../../api/client.ts'
import { notifyError } from '../../ui/notify.ts'
import { LinkToPass } from './link-to-pass.tsx'

/** Makes a link with which a person sets a new password. */
export function PasswordLink({ person, onDone }: { person: PersonBody; onDone: () => void }) {
  const { t } = useTranslation('accounts')
  const [removeSecondFactor, setRemove] = useState(false)
  const create = useMutation({
    mutationFn: () => postJson<NewPasswordResetBody>(`/api/people/${person.id}/password-reset`, { removeSecondFactor }),
    onError: notifyError,
  })
  const { email } = person
  if (create.data) return <LinkToPass text={t('people.resetMade', { email })} link={create.data.url} onDone={onDone} />
  return (
    <Stack>
      <Text size="sm">{t('people.resetText', { email })}</Text>
      {person.twoFactorEnabled && (
        <Checkbox
          checked={removeSecondFactor}
          onChange={(event) => setRemove(event.currentTarget.checked)}
          label={t('people.resetFactor')}
        />
      )}
      <Group justify="flex-end">
        <Button loading={create.isPending} onClick={() => create.mutate()}>
          {t('people.makeLink')}
        </Button>
      </Group>
    </Stack>
  )
}
