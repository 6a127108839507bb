#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Which unit and which container a control group is of, by its path.
set -eu
. "$(dirname "$0")/lib.sh"

hex=4d2fe8c1b0a79665544332211000ffeeddccbbaa99887766554433221100abcd
short=4d2fe8c1b0a7
pod=0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0
under=0b1c2d3e_4f50_6172_8394_a5b6c7d8e9f0
hash=0b1c2d3e4f5061728394a5b6c7d8e9f0

# named: each line of standard input is PATH UNIT CONTAINER, - for none
named() {
	local path unit container
	while read -r path unit container; do
		[ "$(unit_names <<<"$path")" = "$unit $container" ] || {
			echo "$path is $(unit_names <<<"$path"), not $unit $container"
			return 1
		}
	done
}

of_the_system() {
	named <<-'END'
		/ / -
		/init.scope init.scope -
		/system.slice system.slice -
		/system.slice/nginx.service nginx.service -
		/system.slice/system-getty.slice/getty@tty1.service getty@tty1.service -
		/system.slice/system-postgresql.slice/postgresql@15-main.service postgresql@15-main.service -
		/system.slice/dev-disk-by\x2duuid-1234.swap system.slice -
		/system.slice/system-my\x2dapp.slice/my-app@a\x2db.service my-app@a\x2db.service -
		/system.slice/foo.service/worker-1 foo.service -
		/system.slice/run-r0123456789abcdef0123456789abcdef.scope run-r0123456789abcdef0123456789abcdef.scope -
		/mine.slice/mine-deep.slice/batch.service batch.service -
		/mine.slice/mine-deep.slice mine-deep.slice -
		/no/systemd/here no/systemd/here -
	END
	[ "$(unit_names <<<'/no systemd')" = 'no systemd -' ]
}

of_users() {
	named <<-'END'
		/user.slice user.slice -
		/user.slice/user-1000.slice user-1000.slice -
		/user.slice/user-1000.slice/session-3.scope session-3.scope -
		/user.slice/user-1000.slice/user@1000.service user@1000.service -
		/user.slice/user-1000.slice/user@1000.service/init.scope user@1000.service/init.scope -
		/user.slice/user-1000.slice/user@1000.service/app.slice user@1000.service -
		/user.slice/user-1000.slice/user@1000.service/app.slice/app-x.scope user@1000.service/app-x.scope -
		/user.slice/user-1000.slice/user@1000.service/app.slice/app-org.kde.konsole\x2d12.scope user@1000.service/app-org.kde.konsole\x2d12.scope -
		/user.slice/user-1000.slice/user@1000.service/session.slice/dbus.service user@1000.service/dbus.service -
		/user.slice/user-1000.slice/user@1000.service/app.slice/app-x.scope/sub user@1000.service/app-x.scope -
	END
}

of_containers() {
	named <<-END
		/system.slice/docker-$hex.scope docker-$short.scope 4d2fe8c1b0a7
		/docker/$hex docker/$short 4d2fe8c1b0a7
		/docker/$hex/init docker/$short/init 4d2fe8c1b0a7
		/system.slice/docker.service docker.service -
		/system.slice/docker-$hex.scope/system.slice/nginx.service nginx.service 4d2fe8c1b0a7
		/machine.slice/libpod-$hex.scope/container libpod-$short.scope 4d2fe8c1b0a7
		/machine.slice/libpod-conmon-$hex.scope libpod-conmon-$short.scope -
		/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-$hex.scope/container user@1000.service/libpod-$short.scope 4d2fe8c1b0a7
		/system.slice/app.service/libpod-payload-$hex app.service 4d2fe8c1b0a7
		/system.slice/nerdctl-$hex.scope nerdctl-$short.scope 4d2fe8c1b0a7
		/default/$hex default/$short 4d2fe8c1b0a7
		/lxc.payload.web lxc.payload.web web
		/lxc.payload.web/system.slice/nginx.service nginx.service web
		/lxc.monitor.web lxc.monitor.web -
		/machine.slice/systemd-nspawn@deb.service/payload systemd-nspawn@deb.service deb
		/machine.slice/machine-my\\x2dweb.scope machine-my\\x2dweb.scope my-web
		/docker/${hex}0 docker/${hex}0 -
		/docker/${hex%?} docker/${hex%?} -
		/docker/${hex%?}A docker/${hex%?}A -
	END
}

of_pods() {
	named <<-END
		/kubepods.slice kubepods.slice -
		/kubepods.slice/kubepods-burstable.slice kubepods-burstable.slice -
		/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod$under.slice pod$pod -
		/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod$under.slice/cri-containerd-$hex.scope pod$pod 4d2fe8c1b0a7
		/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod$under.slice/crio-$hex.scope pod$pod 4d2fe8c1b0a7
		/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod$under.slice/crio-conmon-$hex.scope pod$pod -
		/kubepods.slice/kubepods-pod$under.slice/docker-$hex.scope pod$pod 4d2fe8c1b0a7
		/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod$hash.slice/cri-containerd-$hex.scope pod$hash 4d2fe8c1b0a7
		/kubepods/burstable/pod$pod/$hex pod$pod 4d2fe8c1b0a7
		/kubepods/pod$pod/$hex pod$pod 4d2fe8c1b0a7
		/kubepods/burstable kubepods/burstable -
		/system.slice/containerd.service/kubepods-burstable-pod$under.slice:cri-containerd:$hex pod$pod 4d2fe8c1b0a7
		/system.slice/docker-$hex.scope/kubelet.slice/kubelet-kubepods-pod$under.slice/cri-containerd-${hex#????}abcd.scope pod$pod e8c1b0a79665
		/kubepods.slice/kubepods-pod$under.slice/cri-containerd-$hex.scope/system.slice/cron.service cron.service 4d2fe8c1b0a7
		/system.slice/podman.service podman.service -
		/system.slice/tripod-x.service tripod-x.service -
	END
}

# Names are bounded, whatever a path has.
long() {
	local name
	name=$(printf '%0300d' 1)
	unit_names <<<"/system.slice/$name.service" | awk '{ print length($1); exit length($1) > 255 || length($1) < 240 }'
	unit_names <<<"/user@1.service/$name.service/$name $name.scope" | awk '{ exit length($1) > 255 }'
	unit_names <<<"/lxc.payload.$name" | awk '{ exit length($2) > 255 }'
	printf '%s\n' '' / // /a//b 'a' '/\x' '/machine-\x2.scope' '/machine-.scope' '/.service' '/pod' \
		'/lxc.payload.' | unit_names | wc -l | grep -Fx 11
}

check 'unit: of the system' of_the_system
check 'unit: of users' of_users
check 'unit: of containers' of_containers
check 'unit: of pods' of_pods
check 'unit: long names' long
plan
