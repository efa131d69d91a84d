"""OpenStack Swift with its S3 API in one process, for tests: proxy, account, container and object server on one disk.

Usage: /usr/bin/python3 s3-server.py DIRECTORY
Prints the port of the S3 API. The access key is test:tester, the secret key testing.
"""
import os
import socket
import sys

import eventlet

eventlet.monkey_patch()

from eventlet import wsgi  # noqa: E402
from swift.common.ring import RingBuilder  # noqa: E402
from swift.common.storage_policy import reload_storage_policies  # noqa: E402
from swift.common import utils, wsgi as swift_wsgi  # noqa: E402

root = sys.argv[1]
os.makedirs(os.path.join(root, 'disks', 'd1'), exist_ok=True)
with open(os.path.join(root, 'swift.conf'), 'w') as conf:
    conf.write('[swift-hash]\nswift_hash_path_suffix = test\nswift_hash_path_prefix = test\n'
               '[storage-policy:0]\nname = one\ndefault = yes\n')

utils.set_swift_dir(root)
reload_storage_policies()


def listen():
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(('127.0.0.1', 0))
    server.listen(128)
    return server


sockets = {name: listen() for name in ('proxy', 'account', 'container', 'object')}
for name in ('account', 'container', 'object'):
    builder = RingBuilder(4, 1, 0)
    builder.add_dev({'region': 1, 'zone': 1, 'ip': '127.0.0.1', 'port': sockets[name].getsockname()[1],
                     'device': 'd1', 'weight': 1.0})
    builder.rebalance()
    builder.get_ring().save(os.path.join(root, name + '.ring.gz'))

DEFAULT = '''[DEFAULT]
swift_dir = {root}
devices = {root}/disks
mount_check = false
log_level = ERROR
fallocate_reserve = 0
'''.format(root=root)

APPS = {
    'account': '[pipeline:main]\npipeline = app\n[app:app]\nuse = egg:swift#account\n',
    'container': '[pipeline:main]\npipeline = app\n[app:app]\nuse = egg:swift#container\n',
    'object': '[pipeline:main]\npipeline = app\n[app:app]\nuse = egg:swift#object\n',
    'proxy': '''[pipeline:main]
pipeline = catch_errors gatekeeper cache listing_formats s3api tempauth slo dlo proxy-logging proxy-server
[app:proxy-server]
use = egg:swift#proxy
allow_account_management = true
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:9
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
[filter:proxy-logging]
use = egg:swift#proxy_logging
''',
}

for name, text in APPS.items():
    path = os.path.join(root, name + '-server.conf')
    with open(path, 'w') as conf:
        conf.write(DEFAULT + text)
for name in ('account', 'container', 'object', 'proxy'):
    app = swift_wsgi.loadapp(os.path.join(root, name + '-server.conf'))
    eventlet.spawn(wsgi.server, sockets[name], app, utils.NullLogger() if hasattr(utils, 'NullLogger') else None,
                   log_output=False, protocol=swift_wsgi.SwiftHttpProtocol)

print(sockets['proxy'].getsockname()[1], flush=True)
while True:
    # Ends with the test, also if that is killed.
    eventlet.sleep(1)
    if os.getppid() == 1:
        break
