/** What can be done with one row: the dots at its end, and the question before something goes for good. */

import { ActionIcon, Menu } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import { useState, type ReactNode } from 'react'

import { queries } from '../../api/hooks'
import { tell } from '../../parts/Feedback'
import { FormDialog, useSending } from '../../parts/Form'
import { t } from '../../texts'

interface Props {
  name: string
  items?: { text: string; icon: ReactNode; run: () => void }[]
  remove?: { words: string; run: () => Promise<unknown>; key: string } | undefined
}

export function RowMenu({ name, items = [], remove }: Props) {
  const [isAsking, setAsking] = useState(false)
  const sending = useSending()
  if (items.length === 0 && !remove) return null
  const go = () => {
    if (!remove) return
    sending.send(remove.run, () => {
      tell(t.settings.removed(name))
      void queries.invalidateQueries({ queryKey: [remove.key] })
      setAsking(false)
    })
  }
  return (
    <>
      <Menu>
        <Menu.Target><ActionIcon aria-label={`${t.settings.actions}: ${name}`}><IconDots size={16} /></ActionIcon></Menu.Target>
        <Menu.Dropdown>
          {items.map((one) => <Menu.Item key={one.text} leftSection={one.icon} onClick={one.run}>{one.text}</Menu.Item>)}
          {items.length > 0 && remove && <Menu.Divider />}
          {remove && <Menu.Item color="red" onClick={() => setAsking(true)}>{t.settings.remove}</Menu.Item>}
        </Menu.Dropdown>
      </Menu>
      {isAsking && remove && (
        <FormDialog title={t.settings.removeTitle(name)} label={t.settings.remove} close={() => setAsking(false)} submit={go} sending={sending} isDanger>
          <p>{remove.words}</p>
        </FormDialog>
      )}
    </>
  )
}
